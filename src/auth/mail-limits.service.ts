import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AttemptCounts, type Limit } from './attempt-counts.js';
import type { OtpPurpose } from './otp.entity.js';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;

const PURPOSE_LIMIT: Limit = { name: 'mail-to', max: 1, seconds: MINUTE_SECONDS };
const MAILBOX_LIMIT: Limit = { name: 'mails-to', max: 10, seconds: HOUR_SECONDS };
const REQUESTER_LIMIT: Limit = { name: 'mails-of', max: 100, seconds: HOUR_SECONDS };

/** A mail with a code. */
export interface CodeMail {
  readonly email: string;
  readonly purpose: OtpPurpose;
  /** Digest of the client's address, from `LimitsService.toRequester`. */
  readonly requester: string;
}

/** Normalizes an e-mail address, so that all its spellings count as one mailbox. */
export function toMailbox(email: string): string {
  return email.normalize('NFKC').toLowerCase();
}

/** Rate limits for mails that contain a code (docs/decisions/09). */
@Injectable()
export class MailLimitsService {
  constructor(private readonly counts: AttemptCounts) {}

  /**
   * Counts a mail in the transaction that queues it. Call it before rows of `one_time_passwords` are locked, so that
   * transactions lock in one order.
   * @returns false if a limit is exceeded: the mail must not be sent and is not counted
   */
  async take(tx: EntityManager, { email, purpose, requester }: CodeMail): Promise<boolean> {
    const mailbox = toMailbox(email);
    const counts = [
      this.counts.toCount(PURPOSE_LIMIT, mailbox, purpose),
      this.counts.toCount(MAILBOX_LIMIT, mailbox),
      this.counts.toCount(REQUESTER_LIMIT, requester),
    ];
    const points = await this.counts.add(counts, tx);
    if (counts.every(({ max }, index) => (points[index] ?? 0) <= max)) return true;
    await this.counts.takeBack(counts, tx);
    return false;
  }
}
