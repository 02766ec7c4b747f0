import { Injectable, type OnModuleInit } from '@nestjs/common';
import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type EntityManager } from 'typeorm';
import { failures } from '../common/errors.js';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { MailService } from '../mail/mail.service.js';
import { UsersService } from '../users/users.service.js';
import { type Guesser, LimitsService } from './limits.service.js';
import { OTP_MAILS } from './otp-mails.js';
import { OneTimePassword, type OtpPurpose } from './otp.entity.js';

const OTP_MINUTES = 10;
const OTP_TRIES = 5;
/** Least time of a wrong answer: a try that is counted waits for the disk, which would tell that the account exists. */
const WRONG_CODE_MS = 50;
const SEND_OTP = 'send-otp';

/** Holds no code: the job makes it, so that the tables of the queue never hold one. */
interface SendOtpPayload extends Pick<OneTimePassword, 'userId' | 'purpose'> {
  /** Whether the e-mail has just replaced another one. */
  readonly isNewEmail?: boolean;
}

/** A code that was right when it was checked. */
export type CheckedOtp = Pick<OneTimePassword, 'userId' | 'purpose'> & { readonly digest: Buffer };

/** One-time passwords by mail: 6 digits, 10 minutes, stored as a keyed digest (contract 11). */
@Injectable()
export class OtpService implements OnModuleInit {
  /** Without a key, six digits can be found from their hash by trying. */
  readonly #key: Buffer;

  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly jobs: JobsService,
    private readonly mail: MailService,
    private readonly limits: LimitsService,
    env: Env,
  ) {
    this.#key = Buffer.from(hkdfSync('sha256', env.jwtAccessSecret, '', 'one-time passwords', 32));
  }

  onModuleInit(): void {
    this.jobs.handle<SendOtpPayload>(SEND_OTP, (payload) => this.#send(payload), { kind: 'mail' });
  }

  /** Queues a mail with a new code, unless one was requested less than a minute ago. @returns whether it did */
  async request(tx: EntityManager, payload: SendOtpPayload): Promise<boolean> {
    const { userId, purpose } = payload;
    // SQL: an upsert with a condition on the stored row, which decides between requests at the same moment.
    const rows = await tx.query<unknown[]>(
      `INSERT INTO one_time_passwords (user_id, purpose, requested_at) VALUES ($1, $2, now())
       ON CONFLICT (user_id, purpose) DO UPDATE SET requested_at = excluded.requested_at
         WHERE one_time_passwords.requested_at <= now() - interval '1 minute'
       RETURNING user_id`,
      [userId, purpose],
    );
    if (rows.length === 0) return false;
    await this.jobs.enqueue(tx, SEND_OTP, payload, { key: `${SEND_OTP}:${userId}:${purpose}` });
    return true;
  }

  /** Ends both codes that went to the former address, and queues a mail with one to the new address. */
  async requestForNewEmail(tx: EntityManager, userId: number): Promise<void> {
    await tx.delete(OneTimePassword, { userId });
    // Queues nothing if another request has queued a mail since: that one goes to the new address as well.
    await this.request(tx, { userId, purpose: 'verify_email', isNewEmail: true });
  }

  /** Ends the code to reset the password, which its owner has just changed. */
  async endReset(tx: EntityManager, userId: number): Promise<void> {
    await tx.update(OneTimePassword, { userId, purpose: 'reset_password' }, { digest: null });
  }

  /**
   * Checks a code, within the limits for guessing.
   * @param userId undefined when there is no account
   * @returns what `consume` takes
   * @throws Failure 400 when the code is wrong, expired, used, its 5 tries are spent, or too many guesses were wrong
   */
  async prove(
    userId: number | undefined,
    guesser: Guesser,
    purpose: OtpPurpose,
    code: string,
  ): Promise<CheckedOtp> {
    const wrongAnswer = delay(WRONG_CODE_MS);
    const checked = await this.limits.guess('code', guesser, async (isRefused) =>
      // A refused guess must not spend the tries of the owner's code.
      isRefused || userId === undefined ? null : this.#check(userId, purpose, code),
    );
    if (checked !== null) return checked;
    await wrongAnswer;
    throw failures.invalidOtp();
  }

  /** Uses a code up in the transaction of what it was good for. @throws Failure 400 when it was used or replaced since */
  async consume(tx: EntityManager, checked: CheckedOtp): Promise<void> {
    const { affected } = await tx.update(OneTimePassword, checked, { digest: null });
    if (affected !== 1) throw failures.invalidOtp();
  }

  /** Counts the try first, in a statement that commits by itself, so that guesses at the same moment count too. */
  async #check(userId: number, purpose: OtpPurpose, code: string): Promise<CheckedOtp | null> {
    const result = await this.dataSource
      .createQueryBuilder()
      .update(OneTimePassword)
      .set({ tries: () => 'tries + 1' })
      .where({ userId, purpose })
      .andWhere('digest IS NOT NULL AND expires_at > now() AND tries < :tries', { tries: OTP_TRIES })
      .returning('digest')
      .execute();
    const [row] = result.raw as { readonly digest: Buffer }[];
    if (row === undefined || !timingSafeEqual(row.digest, this.#digest(userId, purpose, code))) return null;
    return { userId, purpose, digest: row.digest };
  }

  /**
   * Makes the code and mails it. Its digest is stored before the mail leaves, so that every mail holds a code that was
   * valid. A try after a failure makes a new code, which replaces the one of a mail that may have left.
   */
  async #send({ userId, purpose, isNewEmail = false }: SendOtpPayload): Promise<void> {
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const made = {
      digest: this.#digest(userId, purpose, code),
      expiresAt: () => `now() + interval '${OTP_MINUTES} minutes'`,
      tries: 0,
    };
    const account = await this.dataSource.transaction(async (tx) => {
      // The lock keeps the e-mail as it is: a change of it ends the codes of the former address.
      const locked = await this.users.lock(tx, userId);
      const { affected } = await tx.update(OneTimePassword, { userId, purpose }, made);
      return affected === 1 ? locked : null;
    });
    if (account === null) return;
    const { subject, ...texts } = OTP_MAILS[isNewEmail ? 'new_email' : purpose];
    await this.mail.send({
      to: account.email,
      subject,
      template: 'one-time-password',
      context: { ...texts, fullname: account.fullname, code, minutes: OTP_MINUTES },
    });
  }

  #digest(userId: number, purpose: OtpPurpose, code: string): Buffer {
    return createHmac('sha256', this.#key).update(`${userId}:${purpose}:${code}`).digest();
  }
}
