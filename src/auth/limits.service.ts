import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Client } from '../common/http/client.decorator.js';
import type { User } from '../users/user.entity.js';
import { AttemptCounts } from './attempt-counts.js';
import { reportGuess } from './auth.metrics.js';
import { type Counter, type Limit, LIMITS, MARKS } from './limits.js';
import type { OtpPurpose } from './otp.entity.js';

export interface Guess {
  /** Account with the email; null if there is none. */
  readonly user: Pick<User, 'id'> | null;
  readonly email: string;
  readonly client: Client;
}

/** Guess at a mailed code. A request for a mail with a code has the same fields. */
export interface CodeGuess extends Guess {
  readonly purpose: OtpPurpose;
}

/**
 * Limits guesses and mails with codes (docs/decisions/09). A guess is counted before it is checked, so that parallel guesses
 * count too. A rejected guess gets the response of a wrong one.
 */
@Injectable()
export class LimitsService {
  constructor(private readonly counts: AttemptCounts) {}

  /**
   * Counts and checks a password. Returns false, without a check, beyond a limit. Call this in the client's turn: many correct
   * passwords that wait for their check must not reach a limit together.
   */
  async checkPassword(guess: Guess, check: () => Promise<boolean>): Promise<boolean> {
    const isKnown = await this.counts.hasMark(this.#toKnownAddressMark(guess));
    const accountAndAddressCounters = this.#toAccountAndAddressCounters(guess);
    const addressCounters = this.counts.toClientCounters(LIMITS.passwordsFromAddress, guess.client);
    const accountCounter = this.counts.toCounter(LIMITS.passwordsForAccount, toAccountKey(guess));
    const unknownAddressCounters = isKnown ? [] : [accountCounter, ...addressCounters];
    if (!(await this.counts.tryAdd([...accountAndAddressCounters, ...unknownAddressCounters])))
      return reportGuess('password', 'slowed');
    if (!(await check())) {
      // Count the wrong password for the address too, because the address may guess at accounts where it is unknown.
      if (isKnown) await this.counts.add(addressCounters);
      return reportGuess('password', 'wrong');
    }
    if (!isKnown) await this.counts.takeBack(unknownAddressCounters);
    await this.#recognizeOwner(guess);
    return reportGuess('password', 'ok');
  }

  /**
   * Counts a code and returns true if it is right. Call this in the client's turn.
   * @param codeId identifies the mailed code, because each code has its own tries
   */
  async checkCode(guess: CodeGuess, codeId: string, check: () => boolean): Promise<boolean> {
    const { client } = guess;
    const counters = [
      ...this.counts.toClientCounters(LIMITS.triesOfCodeFromAddress, client, toAccountKey(guess), codeId),
      await this.#chooseTotalCounter(guess, codeId),
      ...this.counts.toClientCounters(LIMITS.codesFromAddress, client),
    ];
    if (!(await this.counts.tryAdd(counters))) return reportGuess('code', 'slowed');
    if (!check()) return reportGuess('code', 'wrong');
    await this.counts.takeBack(counters);
    await this.#recognizeOwner(guess);
    return reportGuess('code', 'ok');
  }

  /** Makes the address known after a right guess, and deletes the client's count of passwords for the account. */
  async #recognizeOwner(guess: Guess): Promise<void> {
    await this.counts.delete(this.#toAccountAndAddressCounters(guess));
    await this.rememberKnownAddress(guess);
  }

  /** Returns the counter of the tries of a code from all addresses. Its limit depends on what the client's address has done. */
  async #chooseTotalCounter(guess: CodeGuess, codeId: string): Promise<Counter> {
    const toCounter = (limit: Limit) => this.counts.toCounter(limit, toAccountKey(guess), codeId);
    if (await this.counts.hasMark(this.#toKnownAddressMark(guess)))
      return toCounter(LIMITS.triesOfCodeForKnownAddress);
    if (await this.counts.hasMark(this.#toMailedMark(guess))) return toCounter(LIMITS.triesOfCodeForMailed);
    const isRequester = await this.counts.hasMark(this.#toRequesterMark(guess));
    return toCounter(isRequester ? LIMITS.triesOfCodeForRequester : LIMITS.triesOfCode);
  }

  /**
   * Counts a mail with a code and returns true, unless a limit rejects the mail. Marks the client address as a requester of the
   * code, unless the address is beyond its limit.
   */
  async tryCountMail(tx: EntityManager, request: CodeGuess): Promise<boolean> {
    const { user, email, purpose, client } = request;
    // No mail is sent to an email without an account: requests for `ayu+x@` must not use up the codes of `ayu@`.
    const mailbox = user === null ? `no account: ${toLowerCase(email)}` : toMailbox(email);
    const addressCounters = this.counts.toClientCounters(LIMITS.mailsFromAddress[purpose], client);
    if (await this.counts.isExhausted(addressCounters, tx)) return false;
    // Set the mark even if no code may be mailed now: the client may use the code of an earlier request.
    await this.counts.setMark(this.#toRequesterMark(request), tx);
    const counters = [
      this.counts.toCounter(LIMITS.mailsToMailboxForPurpose, mailbox, purpose),
      this.counts.toCounter(LIMITS.mailsToMailbox, mailbox),
      ...addressCounters,
    ];
    const isAllowed = await this.counts.tryAdd(counters, tx);
    if (isAllowed) await this.counts.setMark(this.#toMailedMark(request), tx);
    return isAllowed;
  }

  async rememberKnownAddress(guess: Guess, tx?: EntityManager): Promise<void> {
    await this.counts.setMark(this.#toKnownAddressMark(guess), tx);
  }

  #toKnownAddressMark(guess: Guess): Counter {
    return this.counts.toCounter(MARKS.knownAddress, toAccountKey(guess), guess.client.clientAddress);
  }

  #toRequesterMark({ email, purpose, client }: CodeGuess): Counter {
    return this.counts.toCounter(MARKS.requester, toMailbox(email), purpose, client.clientAddress);
  }

  /**
   * Returns a mark for the email address, not for its mailbox: a request for `ayu+x@`, to which no code is mailed, must not allow
   * more tries of the code of `ayu@`.
   */
  #toMailedMark({ email, purpose, client }: CodeGuess): Counter {
    return this.counts.toCounter(MARKS.mailed, toLowerCase(email), purpose, client.clientAddress);
  }

  #toAccountAndAddressCounters(guess: Guess): readonly Counter[] {
    const limit = LIMITS.passwordsForAccountFromAddress;
    return this.counts.toClientCounters(limit, guess.client, toAccountKey(guess));
  }
}

/** Converts an email like PostgreSQL's `lower`, which finds the accounts: U+0130 becomes `i`. JavaScript adds a combining dot. */
function toLowerCase(email: string): string {
  return email.toLowerCase().replaceAll('i\u0307', 'i');
}

/** Returns the id of the account, or the email if it has no account. Guesses for both have the same limits. */
function toAccountKey({ user, email }: Guess): number | string {
  return user?.id ?? toLowerCase(email);
}

/** Normalizes an email address, so that all its spellings and `+tag` addresses count as one mailbox. */
export function toMailbox(email: string): string {
  return toLowerCase(email.normalize('NFKC')).replace(/^([^+@]+)\+[^@]*(?=@)/u, '$1');
}
