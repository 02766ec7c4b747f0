import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { failures } from '../common/errors.js';
import type { Account } from '../users/users.service.js';
import { type Guesser, LimitsService } from './limits.service.js';
import type { OtpPurpose } from './otp.entity.js';
import { type CheckedOtp, OtpService } from './otp.service.js';
import { PasswordsService } from './passwords.service.js';

/**
 * A wrong code is answered after so many milliseconds at least. Counting the try of a code that exists waits for the
 * disk, so that the time would tell which accounts exist.
 */
const WRONG_CODE_MS = 50;

/** Checks the password or the code that proves the owner of an account, within the limits for guessing. */
@Injectable()
export class ProofsService {
  constructor(
    private readonly limits: LimitsService,
    private readonly passwords: PasswordsService,
    private readonly otps: OtpService,
  ) {}

  /**
   * @returns the account
   * @throws Failure 400 when it is null, its password another one, or too many guesses were wrong; all take as long
   */
  async password(account: Account | null, guesser: Guesser, password: string): Promise<Account> {
    const proved = await this.limits.guess('password', guesser, async () => {
      const isRight = await this.passwords.matches(account?.passwordHash, password);
      return isRight ? account : null;
    });
    if (proved === null) throw failures.credentials();
    return proved;
  }

  /**
   * @param userId undefined when there is no account
   * @returns what `OtpService.consume` takes
   * @throws Failure 400 when the code is wrong, expired, used, its 5 tries are spent, or too many guesses were wrong
   */
  async code(
    userId: number | undefined,
    guesser: Guesser,
    purpose: OtpPurpose,
    code: string,
  ): Promise<CheckedOtp> {
    const begin = performance.now();
    const checked = await this.limits.guess('code', guesser, async (isRefused) =>
      // A refused guess must not spend the tries of the owner's code.
      isRefused || userId === undefined ? null : this.otps.check(userId, purpose, code),
    );
    if (checked !== null) return checked;
    await delay(Math.max(0, begin + WRONG_CODE_MS - performance.now()));
    throw failures.invalidOtp();
  }
}
