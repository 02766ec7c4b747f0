import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { guessesMetric } from './auth.metrics.js';
import { AttemptCounts } from './attempt-counts.js';
import type { Client } from '../common/http/client.decorator.js';
import {
  CODES_PER_ADDRESS,
  CODES_PER_CODE_AND_ADDRESS,
  DAY,
  isBeyond,
  isPasswordRejected,
  KNOWN_ADDRESS,
  PASSWORDS_PER_ACCOUNT,
  PASSWORDS_PER_ACCOUNT_AND_ADDRESS,
  PASSWORDS_PER_ADDRESS,
} from './guess-limits.js';
import { runInTurn } from './client-turns.js';

export interface Guess {
  /** Id of the account; the given email in lower case if the account does not exist. */
  readonly accountKey: number | string;
  readonly client: Client;
}

type Outcome = 'ok' | 'wrong' | 'rejected';

/** Limits for guesses (docs/decisions/09). A guess is counted before it is checked, so that parallel guesses count too. */
@Injectable()
export class GuessLimitsService {
  /** Duration of the latest check of a password. */
  #checkMs = 0;

  constructor(private readonly counts: AttemptCounts) {}

  /**
   * Counts and checks a password. A rejected password is not checked, but its rejection takes as long as a check.
   * @returns true for a right password, false for a wrong or rejected one
   * @throws Failure 503 if too many passwords wait
   */
  async checkPassword(guess: Guess, check: () => Promise<boolean>): Promise<boolean> {
    // Few passwords are counted, but not checked yet. Otherwise many correct passwords at the same time could reach a limit.
    const outcome = await runInTurn(guess.client, () => this.#checkPasswordInTurn(guess, check));
    if (outcome === 'rejected') await delay(this.#checkMs);
    recordOutcome('password', outcome);
    return outcome === 'ok';
  }

  async #checkPasswordInTurn({ accountKey, client }: Guess, check: () => Promise<boolean>): Promise<Outcome> {
    const known = this.counts.toCounter(KNOWN_ADDRESS, accountKey, client.clientAddress);
    const knownSeconds = await this.counts.findSecondsLeft(known);
    const isKnown = knownSeconds > 0;
    const perAddress = this.counts.toClientCounters(PASSWORDS_PER_ADDRESS, client);
    const perAccount = this.counts.toCounter(PASSWORDS_PER_ACCOUNT, accountKey);
    const ofStranger = isKnown ? [] : [perAccount, ...perAddress];
    const ofPair = this.#toPasswordCounters(accountKey, client);
    if (!(await this.counts.tryAdd([...ofPair, ...ofStranger], isPasswordRejected))) return 'rejected';

    const begin = performance.now();
    const isRight = await check();
    this.#checkMs = performance.now() - begin;
    if (!isRight) {
      if (isKnown) await this.counts.add(perAddress);
      return 'wrong';
    }
    await this.counts.delete(ofPair);
    if (!isKnown) await this.counts.takeBack(ofStranger);
    // A mark that is less than a day old is not renewed, which saves most logins a write.
    if (knownSeconds < known.seconds - DAY) await this.counts.restart(known);
    return 'ok';
  }

  /**
   * Counts a code and checks it, unless it is rejected. A correct code makes the address known and deletes the client's
   * password count.
   * @param codeId identifies the mailed code, because each code has its own tries
   * @returns true for a right code, false for a wrong or rejected one
   */
  async checkCode(
    { accountKey, client }: Guess,
    codeId: string,
    check: (isKnownAddress: boolean) => Promise<boolean>,
  ): Promise<boolean> {
    const known = this.counts.toCounter(KNOWN_ADDRESS, accountKey, client.clientAddress);
    const isKnown = (await this.counts.findSecondsLeft(known)) > 0;
    const counters = [
      ...this.counts.toClientCounters(CODES_PER_CODE_AND_ADDRESS, client, accountKey, codeId),
      ...this.counts.toClientCounters(CODES_PER_ADDRESS, client),
    ];
    const isCounted = await this.counts.tryAdd(counters, isBeyond);
    const isRight = isCounted && (await check(isKnown));
    recordOutcome('code', isRight ? 'ok' : isCounted ? 'wrong' : 'rejected');
    if (!isRight) return false;
    await this.counts.takeBack(counters);
    await this.counts.delete(this.#toPasswordCounters(accountKey, client));
    await this.counts.restart(known);
    return true;
  }

  async rememberKnownAddress(tx: EntityManager, accountId: number, { clientAddress }: Client): Promise<void> {
    await this.counts.restart(this.counts.toCounter(KNOWN_ADDRESS, accountId, clientAddress), tx);
  }

  #toPasswordCounters(accountKey: number | string, client: Client) {
    return this.counts.toClientCounters(PASSWORDS_PER_ACCOUNT_AND_ADDRESS, client, accountKey);
  }
}

function recordOutcome(secret: 'password' | 'code', outcome: Outcome): void {
  guessesMetric.inc({ secret, outcome: outcome === 'rejected' ? 'slowed' : outcome });
}
