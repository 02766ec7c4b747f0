import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { Client } from '../common/http/client.decorator.js';
import { AttemptCounts } from './attempt-counts.js';
import { guessesMetric } from './auth.metrics.js';
import { runInTurn } from './client-turns.js';
import { type Counter, isBeyond, isPasswordRejected, LIMITS, MARKS } from './limits.js';
import type { OtpPurpose } from './otp.entity.js';

export interface Guess {
  /** Id of the account; the given email in lower case if the account does not exist. */
  readonly accountKey: number | string;
  readonly client: Client;
}

type Outcome = 'ok' | 'wrong' | 'rejected';

/**
 * Limits guesses and mails with codes (docs/decisions/09). A guess is counted before it is checked, so that parallel guesses
 * count too. A rejected guess gets the response of a wrong one.
 */
@Injectable()
export class LimitsService {
  /** Duration of the latest check of a password. */
  #checkMs = 0;

  constructor(private readonly counts: AttemptCounts) {}

  /** Counts a password and returns true if it is right. A rejected password is not checked, but takes as long as a check. */
  async checkPassword(guess: Guess, check: () => Promise<boolean>): Promise<boolean> {
    // Few passwords are counted, but not checked yet. Otherwise many correct passwords at the same time could reach a limit.
    const outcome = await runInTurn(guess.client, () => this.#checkPasswordInTurn(guess, check));
    if (outcome === 'rejected') await delay(this.#checkMs);
    recordOutcome('password', outcome);
    return outcome === 'ok';
  }

  async #checkPasswordInTurn(guess: Guess, check: () => Promise<boolean>): Promise<Outcome> {
    const isKnown = await this.counts.exists(this.#knownAddress(guess));
    const ofPair = this.#passwordsOfPair(guess);
    const ofAddress = this.counts.toClientCounters(LIMITS.passwordsFromAddress, guess.client);
    const ofAccount = this.counts.toCounter(LIMITS.passwordsForAccount, guess.accountKey);
    const ofStranger = isKnown ? [] : [ofAccount, ...ofAddress];
    if (!(await this.counts.tryAdd([...ofPair, ...ofStranger], isPasswordRejected))) return 'rejected';

    const begin = performance.now();
    const isRight = await check();
    this.#checkMs = performance.now() - begin;
    if (!isRight) {
      if (isKnown) await this.counts.add(ofAddress);
      return 'wrong';
    }
    await this.counts.delete(ofPair);
    if (!isKnown) await this.counts.takeBack(ofStranger);
    await this.counts.restart(this.#knownAddress(guess));
    return 'ok';
  }

  /**
   * Counts a code and returns true if it is right. A right code makes the address known and deletes the client's count of
   * passwords.
   * @param codeId identifies the mailed code, because each code has its own tries
   */
  async checkCode(
    guess: Guess,
    codeId: string,
    check: (isKnownAddress: boolean) => Promise<boolean>,
  ): Promise<boolean> {
    const { accountKey, client } = guess;
    const isKnown = await this.counts.exists(this.#knownAddress(guess));
    const counters = [
      ...this.counts.toClientCounters(LIMITS.triesOfCodeFromAddress, client, accountKey, codeId),
      ...this.counts.toClientCounters(LIMITS.codesFromAddress, client),
    ];
    const isCounted = await this.counts.tryAdd(counters);
    const isRight = isCounted && (await check(isKnown));
    recordOutcome('code', isRight ? 'ok' : isCounted ? 'wrong' : 'rejected');
    if (!isRight) return false;
    await this.counts.takeBack(counters);
    await this.counts.delete(this.#passwordsOfPair(guess));
    await this.counts.restart(this.#knownAddress(guess));
    return true;
  }

  async rememberKnownAddress(tx: EntityManager, guess: Guess): Promise<void> {
    await this.counts.restart(this.#knownAddress(guess), tx);
  }

  /**
   * Returns true if a code may be mailed. Otherwise the mail is not counted. Remembers the client as a requester, unless its address
   * is beyond its limit.
   */
  async tryMailCode(tx: EntityManager, email: string, purpose: OtpPurpose, client: Client): Promise<boolean> {
    const ofAddress = this.counts.toClientCounters(LIMITS.mailsFromAddress[purpose], client);
    if (isBeyond(await this.counts.readNext(ofAddress, tx))) return false;
    // Also if no code may be mailed now: the client may use the code of an earlier request.
    await this.counts.restart(this.#requester(email, purpose, client), tx);
    const mailbox = toMailbox(email);
    const ofMailboxAndPurpose = this.counts.toCounter(LIMITS.mailsToMailboxForPurpose, mailbox, purpose);
    const ofMailbox = this.counts.toCounter(LIMITS.mailsToMailbox, mailbox);
    return this.counts.tryAdd([ofMailboxAndPurpose, ofMailbox, ...ofAddress], isBeyond, tx);
  }

  /** Returns true if the client's address requested a code in the last 20 minutes. */
  isRequester(email: string, purpose: OtpPurpose, client: Client): Promise<boolean> {
    return this.counts.exists(this.#requester(email, purpose, client));
  }

  #knownAddress({ accountKey, client }: Guess): Counter {
    return this.counts.toCounter(MARKS.knownAddress, accountKey, client.clientAddress);
  }

  #requester(email: string, purpose: OtpPurpose, { clientAddress }: Client): Counter {
    return this.counts.toCounter(MARKS.requester, toMailbox(email), purpose, clientAddress);
  }

  #passwordsOfPair({ accountKey, client }: Guess): readonly Counter[] {
    return this.counts.toClientCounters(LIMITS.passwordsForAccountFromAddress, client, accountKey);
  }
}

function recordOutcome(secret: 'password' | 'code', outcome: Outcome): void {
  guessesMetric.inc({ secret, outcome: outcome === 'rejected' ? 'slowed' : outcome });
}

/** Normalizes an email address, so that all its spellings and `+tag` addresses count as one mailbox. */
function toMailbox(email: string): string {
  const normalized = email.normalize('NFKC').toLowerCase();
  return normalized.replace(/^([^+@]+)\+[^@]*(?=@)/u, '$1');
}
