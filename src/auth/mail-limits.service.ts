import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AttemptCounts, type Limit } from './attempt-counts.js';
import type { OtpPurpose } from './otp.entity.js';

const PURPOSE_LIMIT: Limit = { name: 'mail-to', max: 1, seconds: 60 };
const MAILBOX_LIMIT: Limit = { name: 'mails-to', max: 10, seconds: 3_600 };
const REQUESTER_LIMIT: Limit = { name: 'mails-of', max: 100, seconds: 3_600 };

/** Normalizes an e-mail address, so that all its spellings count as one mailbox. */
export function toMailbox(email: string): string {
  return email.normalize('NFKC').toLowerCase();
}

/** Rate limits for mails that contain a code (docs/decisions/09). */
@Injectable()
export class MailLimitsService {
  constructor(private readonly counts: AttemptCounts) {}

  /**
   * Counts a mail. Call it before `tx` locks rows of `one_time_passwords`: all transactions lock in this order.
   * @param requester digest of the client's address
   * @returns false if a limit is exceeded: the mail must not be sent and is not counted
   */
  async take(tx: EntityManager, email: string, purpose: OtpPurpose, requester: string): Promise<boolean> {
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
