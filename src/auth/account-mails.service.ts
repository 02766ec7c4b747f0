import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Client } from '../common/http/client.decorator.js';
import { JobsService } from '../jobs/jobs.service.js';
import { hasVerifiedAddress, MailService } from '../mail/mail.service.js';
import type { LockedUser, User } from '../users/user.entity.js';
import { UsersService } from '../users/users.service.js';
import { LimitsService, toMailbox } from './limits.service.js';
import type { OtpPurpose } from './otp.entity.js';
import { OTP_MINUTES, OtpService } from './otp.service.js';

const SEND_OTP = 'send-otp';
const START_RESET = 'start-password-reset';
const SEND_NOTICE = 'send-notice';

interface SendOtpPayload {
  readonly userId: number;
  readonly purpose: OtpPurpose;
  /** True if the code verifies the new address of a user that had another address before. */
  readonly isNewEmail?: boolean;
}

interface NoticePayload {
  readonly userId: number;
  readonly notice: 'email_changed' | 'password_changed';
  /** Address before the change. */
  readonly to: string;
}

/**
 * Mails one-time passwords, and notices of a changed email or password, so that owners notice changes that they did not make.
 * Requests of codes beyond the limits send no mail and do not fail.
 */
@Injectable()
export class AccountMailsService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly jobs: JobsService,
    private readonly mail: MailService,
    private readonly otps: OtpService,
    private readonly limits: LimitsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<SendOtpPayload>(SEND_OTP, (payload) => this.#sendCode(payload), 'code-mail');
    this.jobs.handle<{ email: string }>(START_RESET, ({ email }) => this.#startReset(email), 'code-mail');
    // Task that version 1.2 enqueued without counting the request. This handler counts the request.
    this.jobs.handle<{ email: string; requester: string }>(
      'forgot-password',
      ({ email, requester: clientAddress }) =>
        this.dataSource.transaction((tx) => this.requestReset(tx, email, { clientAddress })),
      'code-mail',
    );
    this.jobs.handle<NoticePayload>(SEND_NOTICE, (payload) => this.#sendNotice(payload), 'mail');
  }

  /**
   * Enqueues a verification code, unless a limit rejects it.
   * @param user user before the change, if `tx` changes the email to `email`
   */
  async requestVerification(
    tx: EntityManager,
    user: LockedUser,
    client: Client,
    email = user.email,
  ): Promise<void> {
    const userId = user.id;
    const isNewEmail = email !== user.email;
    // Count before changing `one_time_passwords`: with one order of locks, transactions cannot deadlock.
    const request = { user, email, purpose: 'verify_email', client } as const;
    const isAllowed = await this.limits.tryCountMail(tx, request);
    // Codes that were mailed to the former address must not verify the new one. A code that is not created yet will be mailed to the
    // new address. Keep its request if both addresses belong to one mailbox, because the request was counted for this mailbox.
    if (isNewEmail && toMailbox(email) === toMailbox(user.email)) await this.otps.invalidate(tx, userId);
    else if (isNewEmail) await this.otps.delete(tx, { userId });
    if (isAllowed) await this.#enqueueCode(tx, { userId, purpose: 'verify_email', isNewEmail });
  }

  /**
   * Enqueues the mail with a reset code, unless a limit rejects it. Executes the same statements for an email without an account,
   * so that the response time does not reveal which accounts exist.
   */
  async requestReset(tx: EntityManager, email: string, client: Client): Promise<void> {
    const user = await this.users.findByEmail(email, tx);
    const request = { user, email, purpose: 'reset_password', client } as const;
    if (!(await this.limits.tryCountMail(tx, request))) return;
    await this.jobs.enqueue(tx, START_RESET, { email }, { subject: email.toLowerCase() });
  }

  async #startReset(email: string): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const user = await this.users.lockByEmail(tx, email);
      if (user !== null) await this.#enqueueCode(tx, { userId: user.id, purpose: 'reset_password' });
    });
  }

  async #enqueueCode(tx: EntityManager, payload: SendOtpPayload): Promise<void> {
    const { userId, purpose } = payload;
    await this.otps.request(tx, userId, purpose);
    await this.jobs.enqueue(tx, SEND_OTP, payload, { subject: `${userId}:${purpose}` });
  }

  /** Creates the code in the job, because the tables of the queue must not contain codes. A retry creates a new code. */
  async #sendCode({ userId, purpose, isNewEmail = false }: SendOtpPayload): Promise<void> {
    const created = await this.dataSource.transaction(async (tx) => {
      // Lock the user. Otherwise a code for a new address could be mailed to the former address.
      const user = await this.users.lock(tx, userId);
      const code = await this.otps.create(tx, userId, purpose);
      return user === null || code === null ? null : { user, code };
    });
    if (created === null) return; // the user or its request for a code was deleted meanwhile
    const { user, code } = created;
    await this.mail.send(user, 'account', (texts) => ({
      ...texts.codes[isNewEmail ? 'new_email' : purpose],
      code,
      validity: texts.codeValidity(OTP_MINUTES),
    }));
  }

  /**
   * Enqueues a notice to the address that the user had before the change.
   * @param before user before the change. An address that is not verified may belong to a stranger, and gets no mail
   */
  async enqueueNotice(tx: EntityManager, before: User, notice: NoticePayload['notice']): Promise<void> {
    if (!hasVerifiedAddress(before)) return;
    const payload: NoticePayload = { userId: before.id, notice, to: before.email };
    // While the mail server is unavailable, a waiting notice is replaced by the next one to the same address.
    await this.jobs.enqueue(tx, SEND_NOTICE, payload, { subject: `${notice}:${before.email}` });
  }

  async #sendNotice({ userId, notice, to }: NoticePayload): Promise<void> {
    const { language } = await this.users.findOrFail(userId);
    // The mail contains no name, because the same person may have changed the name too.
    await this.mail.send({ email: to, language }, 'account', (texts) => texts.notices[notice]);
  }
}
