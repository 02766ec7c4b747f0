import { Injectable } from '@nestjs/common';
import { hash, type Options, verify } from '@node-rs/argon2';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one thread. Argon2id is the library's default. */
const ARGON2ID: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A hash of the same cost, for unknown accounts. */
const UNKNOWN_HASH = hash('no password has this hash', ARGON2ID);

/** Hashes and checks passwords; about 14 ms of one core each, in libuv's thread pool. */
@Injectable()
export class PasswordsService {
  hash(password: string): Promise<string> {
    return hash(password, ARGON2ID);
  }

  /**
   * Whether the password belongs to the hash. Without a hash (unknown account) it takes as long and says no, so that
   * the time of an answer does not tell which accounts exist.
   */
  async matches(passwordHash: string | undefined, password: string): Promise<boolean> {
    const matches = await verify(passwordHash ?? (await UNKNOWN_HASH), password);
    return matches && passwordHash !== undefined;
  }
}
