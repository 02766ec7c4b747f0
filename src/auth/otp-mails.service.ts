import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { JobsService } from '../jobs/jobs.service.js';
import { MailService } from '../mail/mail.service.js';
import { type LockedUser, UsersService } from '../users/users.service.js';
import type { Client } from '../common/http/client.decorator.js';
import { CodeRequestsService } from './code-requests.service.js';
import { OneTimePassword, type OtpPurpose } from './otp.entity.js';
import { OTP_MINUTES, OtpService } from './otp.service.js';

const SEND_OTP = 'send-otp';
const START_RESET = 'start-password-reset';
/** Task of version 1.2, which does not count the request. The job counts it. */
const UNCOUNTED_RESET = 'forgot-password';

interface SendOtpPayload {
  readonly userId: number;
  readonly purpose: OtpPurpose;
  /** True if the code verifies the new address of a user that had another address before. */
  readonly isNewEmail?: boolean;
}

interface StartResetPayload {
  readonly email: string;
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
    private readonly requests: CodeRequestsService,
  ) {}

  onModuleInit(): void {
    const options = { kind: 'code-mail' } as const;
    this.jobs.handle<SendOtpPayload>(SEND_OTP, (payload) => this.#send(payload), options);
    this.jobs.handle<StartResetPayload>(START_RESET, (payload) => this.#startReset(payload), options);
    this.jobs.handle<StartResetPayload & { readonly requester: string }>(
      UNCOUNTED_RESET,
      ({ email, requester: clientAddress }) =>
        this.dataSource.transaction((tx) => this.requestReset(tx, email, { clientAddress })),
      options,
    );
  }

  /** @param newEmail new email of the user, if `tx` changes the email */
  async requestVerification(
    tx: EntityManager,
    user: LockedUser,
    client: Client,
    newEmail?: string,
  ): Promise<void> {
    // Count before changing `one_time_passwords`: with one order of locks, transactions cannot deadlock.
    const isAllowed = await this.requests.tryCount(tx, newEmail ?? user.email, 'verify_email', client);
    // Codes that were mailed to the former address must not verify the new one.
    const isNewEmail = newEmail !== undefined;
    if (isNewEmail) await tx.delete(OneTimePassword, { userId: user.id });
    if (isAllowed) await this.#enqueueCode(tx, user.id, 'verify_email', isNewEmail);
  }

  /** The job looks up the user, so that the response time does not reveal if the user exists. */
  async requestReset(tx: EntityManager, email: string, client: Client): Promise<void> {
    if (!(await this.requests.tryCount(tx, email, 'reset_password', client))) return;
    const payload: StartResetPayload = { email };
    await this.jobs.enqueue(tx, START_RESET, payload, { key: `${START_RESET}:${email.toLowerCase()}` });
  }

  async #startReset({ email }: StartResetPayload): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const user = await this.users.lockByEmail(tx, email);
      if (user !== null) await this.#enqueueCode(tx, user.id, 'reset_password');
    });
  }

  async #enqueueCode(
    tx: EntityManager,
    userId: number,
    purpose: OtpPurpose,
    isNewEmail = false,
  ): Promise<void> {
    // The row that `OtpService.create` fills: a job without it sends no code.
    const requested = { userId, purpose, requestedAt: () => 'now()' };
    await tx.upsert(OneTimePassword, requested, ['userId', 'purpose']);
    const payload: SendOtpPayload = { userId, purpose, ...(isNewEmail && { isNewEmail }) };
    await this.jobs.enqueue(tx, SEND_OTP, payload, { key: `${SEND_OTP}:${userId}:${purpose}` });
  }

  /** Creates the code in the job, because the tables of the queue must not contain codes. A retry creates a new code. */
  async #send({ userId, purpose, isNewEmail = false }: SendOtpPayload): Promise<void> {
    const [user, code] = await this.dataSource.transaction(async (tx) => {
      // Lock the user. Otherwise a code for a new address could be created after the former address was read.
      const locked = await this.users.lock(tx, userId);
      return [locked, await this.otps.create(tx, userId, purpose)] as const;
    });
    if (user === null || code === null) return; // the user or its request for a code was deleted meanwhile
    const texts = await this.mail.textsFor(user);
    const { subject, ...sentences } = texts.codes[isNewEmail ? 'new_email' : purpose];
    const context = { ...sentences, code, validity: texts.codeValidity(OTP_MINUTES) };
    await this.mail.send({ to: user, texts, subject, template: 'account', context });
  }
}
