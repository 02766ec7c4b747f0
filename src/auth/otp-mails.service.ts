import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { JobsService } from '../jobs/jobs.service.js';
import { MailService } from '../mail/mail.service.js';
import { type Account, UsersService } from '../users/users.service.js';
import { AttemptCounts, type Limit } from './attempt-counts.js';
import { OneTimePassword, type OtpPurpose } from './otp.entity.js';
import { OTP_MINUTES, OtpService } from './otp.service.js';

const SEND_OTP = 'send-otp';
const FORGOT_PASSWORD = 'forgot-password';

// Rate limits (docs/decisions/09).
const PURPOSE_LIMIT: Limit = { name: 'mail-to', max: 1, seconds: 60 };
const MAILBOX_LIMIT: Limit = { name: 'mails-to', max: 10, seconds: 3_600 };
const REQUESTER_LIMIT: Limit = { name: 'mails-of', max: 100, seconds: 3_600 };

const NOT_A_CUSTOMER =
  'If you have no account at our bakery, someone mistyped their address: ignore this mail.';

const TEXTS: Readonly<Record<OtpPurpose | 'new_email', { subject: string; intro: string; note: string }>> = {
  verify_email: {
    subject: 'Your verification code',
    intro: 'the code that verifies your e-mail address at our bakery is',
    note: NOT_A_CUSTOMER,
  },
  new_email: {
    subject: 'Verify your new e-mail address',
    intro:
      'this address was entered as the new e-mail address of your account at our bakery. The code that verifies it is',
    note: `You log in with this address from now on. ${NOT_A_CUSTOMER}`,
  },
  reset_password: {
    subject: 'Your password reset code',
    intro: 'the code to set a new password for your account at our bakery is',
    note: 'If you did not ask for it, ignore this mail: your password stays as it is. Do not give the code to anyone.',
  },
};

interface SendOtpPayload {
  readonly userId: number;
  readonly purpose: OtpPurpose;
  /** True if the code verifies the new address of an account that had another address before. */
  readonly isNewEmail?: boolean;
}

interface ForgotPasswordPayload {
  readonly email: string;
  /** Digest of the client's IP address. */
  readonly requester: string;
}

/** Mails one-time passwords. Requests beyond the rate limits send no mail and do not fail. */
@Injectable()
export class OtpMailsService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly jobs: JobsService,
    private readonly mail: MailService,
    private readonly otps: OtpService,
    private readonly counts: AttemptCounts,
  ) {}

  onModuleInit(): void {
    const mail = { kind: 'mail' } as const;
    this.jobs.handle<SendOtpPayload>(SEND_OTP, (payload) => this.#send(payload), mail);
    this.jobs.handle<ForgotPasswordPayload>(FORGOT_PASSWORD, (payload) => this.#startReset(payload), mail);
  }

  /**
   * @param account that `tx` has locked or created
   * @param formerEmail previous e-mail of the account, if `tx` changes the e-mail
   */
  async requestVerification(
    tx: EntityManager,
    account: Pick<Account, 'id' | 'email'>,
    clientAddress: string,
    formerEmail?: string,
  ): Promise<void> {
    await this.#requestCode(tx, account, 'verify_email', this.counts.digest(clientAddress), formerEmail);
  }

  /** The job looks up the account, so that the response time does not reveal if the account exists. */
  async requestReset(email: string, clientAddress: string): Promise<void> {
    const payload: ForgotPasswordPayload = { email, requester: this.counts.digest(clientAddress) };
    const key = `${FORGOT_PASSWORD}:${email.toLowerCase()}`;
    await this.jobs.enqueue(this.dataSource.manager, FORGOT_PASSWORD, payload, { key });
  }

  async #startReset({ email, requester }: ForgotPasswordPayload): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const account = await this.users.lockByEmail(tx, email);
      if (account !== null) await this.#requestCode(tx, account, 'reset_password', requester);
    });
  }

  async #requestCode(
    tx: EntityManager,
    { id: userId, email }: Pick<Account, 'id' | 'email'>,
    purpose: OtpPurpose,
    requester: string,
    formerEmail?: string,
  ): Promise<void> {
    const mailbox = toMailbox(email);
    const counts = [
      this.counts.toCount(PURPOSE_LIMIT, mailbox, purpose),
      this.counts.toCount(MAILBOX_LIMIT, mailbox),
      this.counts.toCount(REQUESTER_LIMIT, requester),
    ];
    // Count before changing `one_time_passwords`: with one order of locks, transactions cannot deadlock.
    const totals = await this.counts.add(counts, tx);
    const isAllowed = counts.every(({ max }, index) => (totals[index] ?? 0) <= max);
    if (!isAllowed) await this.counts.takeBack(counts, tx);
    const isNewEmail = formerEmail !== undefined;
    // Codes that were mailed to the former mailbox must become invalid.
    if (isNewEmail && toMailbox(formerEmail) !== mailbox) await tx.delete(OneTimePassword, { userId });
    if (!isAllowed) return;
    const requested = { userId, purpose, requester, requestedAt: () => 'now()' };
    await tx.upsert(OneTimePassword, requested, ['userId', 'purpose']);
    const payload: SendOtpPayload = { userId, purpose, ...(isNewEmail && { isNewEmail }) };
    await this.jobs.enqueue(tx, SEND_OTP, payload, { key: `${SEND_OTP}:${userId}:${purpose}` });
  }

  /** Creates the code in the job, because the tables of the queue must not contain codes. A retry creates a new code. */
  async #send({ userId, purpose, isNewEmail = false }: SendOtpPayload): Promise<void> {
    const [account, code] = await this.dataSource.transaction(async (tx) => {
      // Lock the account: if its e-mail changed now, the code for the new address would go to the former one.
      const locked = await this.users.lock(tx, userId);
      return [locked, await this.otps.create(tx, userId, purpose)] as const;
    });
    if (account === null || code === null) return; // the account or its request for a code was deleted meanwhile
    const { subject, ...texts } = TEXTS[isNewEmail ? 'new_email' : purpose];
    const context = { ...texts, code, minutes: OTP_MINUTES };
    await this.mail.send({ to: account, subject, template: 'one-time-password', context });
  }
}

/** Normalizes an e-mail address, so that all its spellings count as one mailbox. */
function toMailbox(email: string): string {
  return email.normalize('NFKC').toLowerCase();
}
