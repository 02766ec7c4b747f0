import { Injectable } from '@nestjs/common';
import { Limiter } from '../common/limiter.js';
import { authProofs } from '../common/metrics.js';
import { AttemptCounts, type Limit } from './attempt-counts.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// NIST SP 800-63B, 3.2.2, limits guesses for one account to 100.
const PASSWORDS_OF_PAIR: Limit = { name: 'password-from', max: 50, seconds: HOUR };
const PASSWORDS_OF_ACCOUNT: Limit = { name: 'password-at', max: 100, seconds: HOUR };
// An office behind one address mistypes a few times a minute, not once a second.
const PASSWORDS_OF_ADDRESS: Limit = { name: 'wrong-of', max: 1_000, seconds: 15 * MINUTE };
/** The window is as long as a code is valid. */
const TRIES_OF_PAIR: Limit = { name: 'code-from', max: 5, seconds: 10 * MINUTE };
const TRIES_OF_ADDRESS: Limit = { name: 'codes-of', max: 60, seconds: HOUR };
/** Marks an address that the owner of an account has used. */
const KNOWN: Limit = { name: 'known', max: 1, seconds: 30 * DAY };

/** Customers who log in from one address at the same moment must not look like many wrong guesses. */
const PARALLEL_GUESSES = 8;
/** About 7 seconds of hashing. */
const MAX_WAITING_GUESSES = 1_000;

/** Account and client of a guess. */
export interface Guesser {
  /** Id of the account; the given e-mail if the account does not exist. */
  readonly account: number | string;
  readonly address: string;
}

/**
 * Limits for guesses of passwords and codes (docs/decisions/09). A guess is counted before it is checked, so that parallel
 * guesses cannot exceed a limit.
 */
@Injectable()
export class LimitsService {
  readonly #passwords = new Limiter(PARALLEL_GUESSES, MAX_WAITING_GUESSES);

  constructor(private readonly counts: AttemptCounts) {}

  /**
   * Checks a password.
   * @throws Failure 503 if too many guesses wait
   * @param check returns null for a wrong password; also runs for a rejected guess, so that both take the same time
   * @returns null for a wrong or rejected guess
   */
  guessPassword<T>(guesser: Guesser, check: () => Promise<T | null>): Promise<T | null> {
    return this.#passwords.run(() => this.#guessPassword(guesser, check));
  }

  async #guessPassword<T>({ account, address }: Guesser, check: () => Promise<T | null>): Promise<T | null> {
    const whose = normalizeAccount(account);
    const ofPair = this.counts.toCount(PASSWORDS_OF_PAIR, whose, address);
    const ofAccount = this.counts.toCount(PASSWORDS_OF_ACCOUNT, whose);
    const ofAddress = this.counts.toCount(PASSWORDS_OF_ADDRESS, address);
    const known = this.counts.toCount(KNOWN, whose, address);
    const [[own = 0], knownSeconds] = await Promise.all([
      this.counts.add([ofPair]),
      this.counts.findSecondsLeft(known),
    ]);
    let isRejected = own > ofPair.max;
    const isStranger = knownSeconds === 0 && !isRejected;
    if (isStranger) {
      const [atAccount = 0, byAddress = 0] = await this.counts.add([ofAccount, ofAddress]);
      // While an account is under attack, an unknown address gets one guess.
      isRejected = byAddress > ofAddress.max || (atAccount > ofAccount.max && own > 1);
    }

    const proof = await check();
    if (isRejected || proof === null) {
      if (!isStranger) await this.counts.add([ofAddress]);
      authProofs.inc({ secret: 'password', outcome: isRejected ? 'slowed' : 'wrong' });
      return null;
    }
    await this.counts.delete(ofPair);
    if (isStranger) await this.counts.takeBack([ofAccount, ofAddress]);
    // Save the write of most logins.
    if (knownSeconds < known.seconds - DAY) await this.counts.restart(known);
    authProofs.inc({ secret: 'password', outcome: 'ok' });
    return proof;
  }

  /**
   * Checks a code. A correct code also deletes the count of wrong passwords.
   * @param code identifies the mailed code, because each code has its own tries
   * @param check returns null for a wrong code; does not run for a rejected guess
   * @returns null for a wrong or rejected guess
   */
  async guessCode<T>(
    { account, address }: Guesser,
    code: string,
    check: (isKnownAddress: boolean) => Promise<T | null>,
  ): Promise<T | null> {
    const whose = normalizeAccount(account);
    const ofPair = this.counts.toCount(TRIES_OF_PAIR, whose, code, address);
    const ofAddress = this.counts.toCount(TRIES_OF_ADDRESS, address);
    const known = this.counts.toCount(KNOWN, whose, address);
    const [[own = 0, byAddress = 0], knownSeconds] = await Promise.all([
      this.counts.add([ofPair, ofAddress]),
      this.counts.findSecondsLeft(known),
    ]);
    const isRejected = own > ofPair.max || byAddress > ofAddress.max;
    const proof = isRejected ? null : await check(knownSeconds > 0);
    if (proof === null) {
      authProofs.inc({ secret: 'code', outcome: isRejected ? 'slowed' : 'wrong' });
      return null;
    }
    await this.counts.takeBack([ofPair, ofAddress]);
    await this.counts.delete(this.counts.toCount(PASSWORDS_OF_PAIR, whose, address));
    await this.counts.restart(known);
    authProofs.inc({ secret: 'code', outcome: 'ok' });
    return proof;
  }

  toRequester(address: string): string {
    return this.counts.digest(address);
  }

  /** Marks the address of a registration as known for the account. */
  async rememberOwner(account: number, address: string): Promise<void> {
    await this.counts.restart(this.counts.toCount(KNOWN, account, address));
  }
}

/** E-mails are compared regardless of case, like those of existing accounts. */
function normalizeAccount(account: number | string): number | string {
  return typeof account === 'string' ? account.toLowerCase() : account;
}
