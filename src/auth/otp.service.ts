import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type EntityManager, Repository } from 'typeorm';
import { failures } from '../common/errors.js';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { MailService } from '../mail/mail.service.js';
import { type Account, UsersService } from '../users/users.service.js';
import { type Guesser, LimitsService } from './limits.service.js';
import { type CodeMail, MailLimitsService, toMailbox } from './mail-limits.service.js';
import { OTP_MINUTES, writeOtpMail } from './otp-mails.js';
import { OneTimePassword, type OtpPurpose } from './otp.entity.js';

/** Wrong tries from all addresses. `LimitsService` limits the tries of one address. */
const OTP_TRIES = 20;
/** Minimum time of a rejection. Only tries at existing codes wait for the disk, which would reveal that the account exists. */
const REJECTION_MS = 50;
const SEND_OTP = 'send-otp';

/** The job creates the code, so that the tables of the queue never contain a code. */
interface SendOtpPayload extends Pick<OneTimePassword, 'userId' | 'purpose'> {
  /** True if the e-mail has replaced another e-mail. */
  readonly isNewEmail?: boolean;
}

interface OtpRequest extends Pick<CodeMail, 'purpose' | 'requester'> {
  /** Previous e-mail of the account, if the request changes the e-mail. */
  readonly formerEmail?: string;
}

/** Code that was correct at its check. */
export type CheckedOtp = Pick<OneTimePassword, 'userId' | 'purpose'> & { readonly digest: Buffer };

/** One-time passwords by mail: 6 digits, 10 minutes, stored as a keyed digest (contract 11). */
@Injectable()
export class OtpService implements OnModuleInit {
  /** Six digits can be recovered from a digest without a key. */
  readonly #key: Buffer;

  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(OneTimePassword) private readonly otps: Repository<OneTimePassword>,
    private readonly users: UsersService,
    private readonly jobs: JobsService,
    private readonly mail: MailService,
    private readonly limits: LimitsService,
    private readonly mailLimits: MailLimitsService,
    env: Env,
  ) {
    this.#key = Buffer.from(hkdfSync('sha256', env.jwtAccessSecret, '', 'one-time passwords', 32));
  }

  onModuleInit(): void {
    this.jobs.handle<SendOtpPayload>(SEND_OTP, (payload) => this.#send(payload), { kind: 'mail' });
  }

  /**
   * Queues a mail with a new code, within the limits for mails.
   * @param account that `tx` has locked or created
   */
  async request(
    tx: EntityManager,
    { id: userId, email }: Pick<Account, 'id' | 'email'>,
    { purpose, requester, formerEmail }: OtpRequest,
  ): Promise<void> {
    const isAllowed = await this.mailLimits.take(tx, { email, purpose, requester });
    const isNewEmail = formerEmail !== undefined;
    // Codes that went to another mailbox must not verify this one.
    if (isNewEmail && toMailbox(formerEmail) !== toMailbox(email))
      await tx.delete(OneTimePassword, { userId });
    if (!isAllowed) return;
    const requested = { userId, purpose, requester, requestedAt: () => 'now()' };
    await tx.upsert(OneTimePassword, requested, ['userId', 'purpose']);
    const payload: SendOtpPayload = { userId, purpose, ...(isNewEmail && { isNewEmail }) };
    await this.jobs.enqueue(tx, SEND_OTP, payload, { key: `${SEND_OTP}:${userId}:${purpose}` });
  }

  async endResetCode(tx: EntityManager, userId: number): Promise<void> {
    await tx.update(OneTimePassword, { userId, purpose: 'reset_password' }, { digest: null });
  }

  /**
   * Checks a code, within the limits for guesses.
   * @param userId undefined if the account does not exist
   * @throws Failure 400 if the code is wrong, expired or used, or if too many tries were wrong
   */
  async prove(
    userId: number | undefined,
    guesser: Guesser,
    purpose: OtpPurpose,
    code: string,
  ): Promise<CheckedOtp> {
    const rejection = delay(REJECTION_MS);
    const otp = userId === undefined ? null : await this.otps.findOneBy({ userId, purpose });
    const mailed = `${purpose} ${otp?.expiresAt?.getTime() ?? 'none'}`;
    const checked = await this.limits.guessCode(guesser, mailed, (isKnownAddress) => {
      const isOwner = isKnownAddress || otp?.requester === this.limits.toRequester(guesser.address);
      return this.#check(otp, code, isOwner);
    });
    if (checked !== null) return checked;
    await rejection;
    throw failures.invalidOtp();
  }

  /** Uses up a checked code. @throws Failure 400 if the code was used or replaced since the check */
  async consume(tx: EntityManager, checked: CheckedOtp): Promise<void> {
    const { affected } = await tx.update(OneTimePassword, checked, { digest: null });
    if (affected !== 1) throw failures.invalidOtp();
  }

  /**
   * Counts the try before the comparison, in a statement of its own, so that parallel tries count.
   * @param isOwner true if the total of all addresses does not apply
   */
  async #check(otp: OneTimePassword | null, code: string, isOwner: boolean): Promise<CheckedOtp | null> {
    if (otp?.digest == null) return null;
    const { userId, purpose, digest } = otp;
    const counting = this.otps
      .createQueryBuilder()
      .update()
      .set({ tries: () => 'tries + 1' })
      .where({ userId, purpose, digest })
      .andWhere('expires_at > now()');
    if (!isOwner) counting.andWhere('tries < :tries', { tries: OTP_TRIES });
    const { affected } = await counting.execute();
    const isRight = timingSafeEqual(digest, this.#digest(userId, purpose, code));
    return affected === 1 && isRight ? { userId, purpose, digest } : null;
  }

  /**
   * Creates the code and mails it. The digest is stored first, so that every mail contains a code that was valid. A retry
   * creates a new code.
   */
  async #send({ userId, purpose, isNewEmail = false }: SendOtpPayload): Promise<void> {
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const generated = {
      digest: this.#digest(userId, purpose, code),
      expiresAt: () => `now() + interval '${OTP_MINUTES} minutes'`,
      tries: 0,
    };
    const account = await this.dataSource.transaction(async (tx) => {
      // Lock the account: a change of the e-mail would end the codes of the former address.
      const locked = await this.users.lock(tx, userId);
      const { affected } = await tx.update(OneTimePassword, { userId, purpose }, generated);
      return affected === 1 ? locked : null;
    });
    if (account === null) return;
    await this.mail.send(writeOtpMail(account, isNewEmail ? 'new_email' : purpose, code));
  }

  #digest(userId: number, purpose: OtpPurpose, code: string): Buffer {
    return createHmac('sha256', this.#key).update(`${userId}:${purpose}:${code}`).digest();
  }
}
