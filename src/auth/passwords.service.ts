import { Injectable } from '@nestjs/common';
import { hash, type Options, verify } from '@node-rs/argon2';
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one lane. Argon2id is the library's default. */
const ARGON2ID: Options = {
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};

/** A hash of the same cost that no password has. */
const NOBODYS_HASH = hash('no password has this hash', ARGON2ID);

/** How many of the latest checks `pretend` takes its time from. */
const REMEMBERED_TIMES = 32;

/** Hashes and checks passwords; about 14 ms of one core each, in libuv's thread pool. */
@Injectable()
export class PasswordsService {
  /** How long the latest checks took, in milliseconds, the wait for a thread included. */
  readonly #times: number[] = [];

  hash(password: string): Promise<string> {
    return hash(password, ARGON2ID);
  }

  /**
   * Whether the password belongs to the hash. Without a hash (unknown account) it works as long and says no, so
   * that the time of an answer does not tell which accounts exist.
   */
  async matches(passwordHash: string | undefined, password: string): Promise<boolean> {
    const hashed = passwordHash ?? (await NOBODYS_HASH);
    const start = performance.now();
    const matches = await verify(hashed, password);
    this.#times.push(performance.now() - start);
    if (this.#times.length > REMEMBERED_TIMES) this.#times.shift();
    return matches && passwordHash !== undefined;
  }

  /** Takes as long as a check took lately, and no work. */
  async pretend(): Promise<void> {
    const time = this.#times.length === 0 ? undefined : this.#times[randomInt(this.#times.length)];
    if (time === undefined) await this.matches(undefined, '');
    else await delay(time);
  }
}
