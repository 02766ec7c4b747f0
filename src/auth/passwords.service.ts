import { Injectable } from '@nestjs/common';
import { hash, type Options, verify } from '@node-rs/argon2';
import { failures } from '../common/errors.js';
import type { Account } from '../users/users.service.js';
import { type Guesser, LimitsService } from './limits.service.js';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one thread. Argon2id is the library's default. */
const ARGON2ID: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A hash of the same cost, for unknown accounts. */
const UNKNOWN_HASH = hash('no password has this hash', ARGON2ID);

/** Hashes and checks passwords; about 14 ms of one core each, in libuv's thread pool. */
@Injectable()
export class PasswordsService {
  constructor(private readonly limits: LimitsService) {}

  hash(password: string): Promise<string> {
    return hash(password, ARGON2ID);
  }

  /**
   * Checks the password that proves the owner of an account, within the limits for guessing.
   * @returns the account
   * @throws Failure 400 when it is null, its password another one, or too many guesses were wrong; all take as long, so
   *   that the time of an answer does not tell which accounts exist
   */
  async prove(account: Account | null, guesser: Guesser, password: string): Promise<Account> {
    const proved = await this.limits.guess('password', guesser, async () => {
      const isRight = await verify(account?.passwordHash ?? (await UNKNOWN_HASH), password);
      return isRight ? account : null;
    });
    if (proved === null) throw failures.credentials();
    return proved;
  }
}
