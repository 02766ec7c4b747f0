import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Limiter } from '../common/limiter.js';
import { authProofs } from '../common/metrics.js';
import { AttemptCounts, type Limit } from './attempt-counts.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// A pair is an account and a client address; each code has its own pairs. Each `name` is part of stored keys.
const PASSWORDS_OF_PAIR: Limit = { name: 'password-from', max: 50, seconds: HOUR };
// NIST SP 800-63B, 3.2.2, limits guesses for one account to 100.
const PASSWORDS_OF_ACCOUNT: Limit = { name: 'password-at', max: 100, seconds: HOUR };
// An office behind one address mistypes a few times a minute, not once a second.
const PASSWORDS_OF_ADDRESS: Limit = { name: 'wrong-of', max: 1_000, seconds: 15 * MINUTE };
const CODES_OF_PAIR: Limit = { name: 'code-from', max: 5, seconds: 10 * MINUTE }; // The lifetime of a code.
const CODES_OF_ADDRESS: Limit = { name: 'codes-of', max: 60, seconds: HOUR };
/** Marks a client address that the owner of an account has used. */
const KNOWN: Limit = { name: 'known', max: 1, seconds: 30 * DAY };

/** A guess counts as wrong until it is checked. With unlimited parallel guesses, correct logins could exceed a limit. */
const PARALLEL_GUESSES = 8;
/** The last of 1,000 waiting guesses is checked after about 7 seconds. */
const MAX_WAITING_GUESSES = 1_000;

export interface Guesser {
  /** Id of the account; the given e-mail in lower case if the account does not exist. */
  readonly accountKey: number | string;
  readonly clientAddress: string;
}

/** Limits for guesses (docs/decisions/09). A guess is counted before it is checked, so that parallel guesses count too. */
@Injectable()
export class GuessLimitsService {
  readonly #passwords = new Limiter(PARALLEL_GUESSES, MAX_WAITING_GUESSES);

  constructor(private readonly counts: AttemptCounts) {}

  /**
   * @param check returns null for a wrong password; also runs for a rejected guess, so that a rejection takes the same time
   * @returns null for a wrong or rejected guess
   * @throws Failure 503 if too many guesses wait
   */
  guessPassword<T>(guesser: Guesser, check: () => Promise<T | null>): Promise<T | null> {
    const { accountKey, clientAddress } = guesser;
    return this.#passwords.run(async () => {
      const pair = this.counts.toCount(PASSWORDS_OF_PAIR, accountKey, clientAddress);
      const perAccount = this.counts.toCount(PASSWORDS_OF_ACCOUNT, accountKey);
      const perAddress = this.counts.toCount(PASSWORDS_OF_ADDRESS, clientAddress);
      const known = this.counts.toCount(KNOWN, accountKey, clientAddress);
      const [[pairCount = 0], knownSeconds] = await Promise.all([
        this.counts.add([pair]),
        this.counts.findSecondsLeft(known),
      ]);
      let isRejected = pairCount > pair.max;
      const isCountedAsStranger = knownSeconds === 0 && !isRejected;
      if (isCountedAsStranger) {
        const [accountCount = 0, addressCount = 0] = await this.counts.add([perAccount, perAddress]);
        // While an account is under attack, an unknown address gets one guess.
        isRejected = addressCount > perAddress.max || (accountCount > perAccount.max && pairCount > 1);
      }

      const result = await check();
      countGuess('password', isRejected, result);
      if (isRejected || result === null) {
        // A guess that counts as a stranger's has already been counted for its address.
        if (!isCountedAsStranger) await this.counts.add([perAddress]);
        return null;
      }
      await this.counts.delete(pair);
      if (isCountedAsStranger) await this.counts.takeBack([perAccount, perAddress]);
      // A mark that is less than a day old is not renewed, which saves most logins a write.
      if (knownSeconds < known.seconds - DAY) await this.counts.restart(known);
      return result;
    });
  }

  /**
   * Counts and checks the guess of a code. A correct code makes the address known and deletes the pair's password count.
   * @param codeId identifies the mailed code, because each code has its own tries
   * @param check returns null for a wrong code; does not run for a rejected guess
   * @returns null for a wrong or rejected guess
   */
  async guessCode<T>(
    { accountKey, clientAddress }: Guesser,
    codeId: string,
    check: (isKnownAddress: boolean) => Promise<T | null>,
  ): Promise<T | null> {
    const pair = this.counts.toCount(CODES_OF_PAIR, accountKey, codeId, clientAddress);
    const perAddress = this.counts.toCount(CODES_OF_ADDRESS, clientAddress);
    const known = this.counts.toCount(KNOWN, accountKey, clientAddress);
    const [[pairCount = 0, addressCount = 0], knownSeconds] = await Promise.all([
      this.counts.add([pair, perAddress]),
      this.counts.findSecondsLeft(known),
    ]);
    const isRejected = pairCount > pair.max || addressCount > perAddress.max;
    const result = isRejected ? null : await check(knownSeconds > 0);
    countGuess('code', isRejected, result);
    if (result === null) return null;
    await this.counts.takeBack([pair, perAddress]);
    await this.counts.delete(this.counts.toCount(PASSWORDS_OF_PAIR, accountKey, clientAddress));
    await this.counts.restart(known);
    return result;
  }

  async rememberKnownAddress(tx: EntityManager, accountId: number, clientAddress: string): Promise<void> {
    await this.counts.restart(this.counts.toCount(KNOWN, accountId, clientAddress), tx);
  }
}

/** Counts a guess in the metric, which calls a rejected guess `slowed`. */
function countGuess(secret: 'password' | 'code', isRejected: boolean, result: unknown): void {
  authProofs.inc({ secret, outcome: isRejected ? 'slowed' : result === null ? 'wrong' : 'ok' });
}
