import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AttemptCounts, type Limit } from './attempt-counts.js';
import type { Client } from '../common/http/client.decorator.js';
import { isBeyond } from './guess-limits.js';
import type { OtpPurpose } from './otp.entity.js';

const HOUR = 3_600;

// Each `name` is part of stored keys. Version 1.2 uses the same names, except for the reset.
const MAILS_PER_MAILBOX_AND_PURPOSE: Limit = { name: 'mail-to', max: 1, seconds: 60 };
const MAILS_PER_MAILBOX: Limit = { name: 'mails-to', max: 10, seconds: HOUR };
const MAILS_PER_ADDRESS: Readonly<Record<OtpPurpose, Limit>> = {
  verify_email: { name: 'mails-of', max: 100, seconds: HOUR },
  reset_password: { name: 'resets-of', max: 100, seconds: HOUR },
};
/** Marks a client address that requested a code, for longer than the code is valid. */
const REQUESTER: Limit = { name: 'code-requested', max: Infinity, seconds: 1_200 };
const CODE_LIFETIME_S = 600;

/** Limits for requests of codes (docs/decisions/09). */
@Injectable()
export class CodeRequestsService {
  constructor(private readonly counts: AttemptCounts) {}

  /** Remembers the client as a requester. Returns true if a code may be mailed. Otherwise the request is not counted. */
  async tryCount(tx: EntityManager, email: string, purpose: OtpPurpose, client: Client): Promise<boolean> {
    const mailbox = toMailbox(email);
    const perAddress = this.counts.toClientCounters(MAILS_PER_ADDRESS[purpose], client);
    if (isBeyond(await this.counts.readNext(perAddress, tx))) return false;
    // Also if no code may be mailed now: the client may use the code of an earlier request.
    const requester = this.counts.toCounter(REQUESTER, mailbox, purpose, client.clientAddress);
    if ((await this.counts.findSecondsLeft(requester, tx)) < CODE_LIFETIME_S)
      await this.counts.restart(requester, tx);
    const perMailboxAndPurpose = this.counts.toCounter(MAILS_PER_MAILBOX_AND_PURPOSE, mailbox, purpose);
    const perMailbox = this.counts.toCounter(MAILS_PER_MAILBOX, mailbox);
    return this.counts.tryAdd([perMailboxAndPurpose, perMailbox, ...perAddress], isBeyond, tx);
  }

  /** Returns true if the client's address requested a code that is still valid, or replaced one that is. */
  async isRequester(email: string, purpose: OtpPurpose, { clientAddress }: Client): Promise<boolean> {
    const requester = this.counts.toCounter(REQUESTER, toMailbox(email), purpose, clientAddress);
    return (await this.counts.findSecondsLeft(requester)) > 0;
  }
}

/** Normalizes an email address, so that all its spellings and `+tag` addresses count as one mailbox. */
function toMailbox(email: string): string {
  const normalized = email.normalize('NFKC').toLowerCase();
  return normalized.replace(/^([^+@]+)\+[^@]*(?=@)/u, '$1');
}
