import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { failures } from '../common/errors.js';
import type { Account } from '../users/users.service.js';
import { type Guesser, GuessesService } from './guesses.service.js';
import type { OtpPurpose } from './otp.entity.js';
import { type CheckedOtp, OtpService } from './otp.service.js';
import { PasswordsService } from './passwords.service.js';

/** No account's id. Its codes are looked for as well, so that the time of an answer tells as little as its text. */
const NOBODY = 0;

/**
 * What refuses a code takes so long, in milliseconds: counting the try of a code that exists waits for the disk, and
 * would tell by that which accounts exist.
 */
const WRONG_CODE_MS = 50;

/** Checks what proves the owner of an account, slowly for whoever guesses. */
@Injectable()
export class ProofsService {
  constructor(
    private readonly guesses: GuessesService,
    private readonly passwords: PasswordsService,
    private readonly otps: OtpService,
  ) {}

  /**
   * @returns the account
   * @throws Failure 400 when it is null, its password another one, or too many guesses were wrong
   */
  async password(account: Account | null, guesser: Guesser, password: string): Promise<Account> {
    const verify = (): Promise<boolean> => this.passwords.matches(account?.passwordHash, password);
    const isRight = await this.guesses.evaluate('password', guesser, {
      check: async () => ((await verify()) ? true : null),
      // One account's limit shows in nothing, not even under load: the hash is computed. That is bounded by the
      // address's limit, beyond which it is not.
      instead: (refusal) => (refusal === 'account' ? verify() : this.passwords.pretend()),
    });
    if (isRight === null || account === null) throw failures.credentials();
    return account;
  }

  /**
   * @param userId undefined where there is no account
   * @returns what `OtpService.consume` takes
   * @throws Failure 400 when the code is wrong, expired, used, its 5 tries are spent, or too many guesses were wrong
   */
  async code(
    userId: number | undefined,
    guesser: Guesser,
    purpose: OtpPurpose,
    code: string,
  ): Promise<CheckedOtp> {
    const notBefore = performance.now() + WRONG_CODE_MS;
    const checked = await this.guesses.evaluate('code', guesser, {
      check: () => this.otps.check(userId ?? NOBODY, purpose, code),
      // Not the account's own: who is refused must not spend the tries of the owner's code.
      instead: () => this.otps.check(NOBODY, purpose, code),
    });
    if (checked !== null) return checked;
    await delay(notBefore - performance.now());
    throw failures.invalidOtp();
  }
}
