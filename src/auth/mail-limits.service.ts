import { Injectable } from '@nestjs/common';
import { MAILS_OF_ONE_ADDRESS, MAILS_TO_ONE_ACCOUNT, SLOW_MAIL_GAP_SECONDS } from './attempt-limits.js';
import { AttemptsRepository, type CountKey } from './attempts.repository.js';

const SECOND = 1000;

/** Bounds the mail that one address makes the service send, without notice (docs/decisions/09). */
@Injectable()
export class MailLimitsService {
  constructor(private readonly attempts: AttemptsRepository) {}

  /** Counts a mail that is only a favour. @returns false when it must not be sent */
  async mayAsk(address: string): Promise<boolean> {
    return (await this.attempts.add(this.attempts.key('mails-of', address))) <= MAILS_OF_ONE_ADDRESS.free;
  }

  /** Counts a mail that is promised. @returns when it may leave; undefined: at once */
  async promisedAt(address: string): Promise<Date | undefined> {
    const beyond =
      (await this.attempts.add(this.attempts.key('mails-of', address))) - MAILS_OF_ONE_ADDRESS.free;
    return beyond <= 0 ? undefined : new Date(Date.now() + beyond * SLOW_MAIL_GAP_SECONDS * SECOND);
  }

  /** Stands for an address in a job, which says nothing about it. */
  askerOf(address: string): string {
    return this.attempts.key('mails-of', address).of;
  }

  /** Whether an address has had enough codes mailed to an account. @param asker of `askerOf` */
  async isSpent(accountId: number, asker: string): Promise<boolean> {
    const key = this.#mailsTo(accountId, asker);
    return (await this.attempts.read([key]))(key).count >= MAILS_TO_ONE_ACCOUNT.free;
  }

  /** Counts a code that is being mailed to an account. */
  async countMail(accountId: number, asker: string): Promise<void> {
    await this.attempts.add(this.#mailsTo(accountId, asker));
  }

  #mailsTo(accountId: number, asker: string): CountKey {
    return this.attempts.key('mails-to', accountId, asker);
  }
}
