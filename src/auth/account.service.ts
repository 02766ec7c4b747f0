import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Caller, Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { JobsService } from '../jobs/jobs.service.js';
import { type Account, UsersService } from '../users/users.service.js';
import type { ChangePasswordDto, ResetPasswordDto, UpdateProfileDto } from './account.dto.js';
import { AuthService, type OpenedSession } from './auth.service.js';
import { LimitsService } from './limits.service.js';
import { OtpService } from './otp.service.js';
import { hashPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';

const FORGOT_PASSWORD = 'forgot-password';

interface ForgotPasswordPayload {
  readonly email: string;
  readonly requester: string;
}

/** Use cases of the owner of an account (contract 11). Addresses come from `ClientAddress`. */
@Injectable()
export class AccountService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly auth: AuthService,
    private readonly otps: OtpService,
    private readonly limits: LimitsService,
    private readonly jobs: JobsService,
    private readonly sessions: SessionsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<ForgotPasswordPayload>(FORGOT_PASSWORD, (payload) => this.#sendResetCode(payload), {
      kind: 'mail',
    });
  }

  /** Queues a new verification code, within the limits for mails. @throws Failure 401 if the account does not exist */
  async sendOtp(caller: Principal, address: string): Promise<void> {
    const requester = this.limits.toRequester(address);
    await this.dataSource.transaction(async (tx) => {
      const account = await this.users.lock(tx, caller.id);
      if (account === null) throw failures.missingAccessToken();
      await this.otps.request(tx, account, { purpose: 'verify_email', requester });
    });
  }

  /** @throws Failure 400 like `OtpService.prove` */
  async verifyEmail(caller: Principal, otp: string, address: string): Promise<Account> {
    const checked = await this.otps.prove(caller.id, { account: caller.id, address }, 'verify_email', otp);
    return this.dataSource.transaction(async (tx) => {
      // A change of the e-mail, which ends the codes of the old address, locks in the same order.
      const account = await this.users.lock(tx, caller.id);
      if (account === null) throw failures.invalidOtp();
      await this.otps.consume(tx, checked);
      return this.users.change(tx, account, { emailVerifiedAt: account.emailVerifiedAt ?? new Date() });
    });
  }

  /**
   * Changes name or e-mail. A change starts a new session and ends the others.
   * @returns the user, and the new session if something changed
   * @throws Failure 400 if the password is wrong, 409 if the e-mail is taken, 401 if no password is given and the
   *   session has been ended
   */
  async updateProfile(
    caller: Caller,
    change: UpdateProfileDto,
    address: string,
  ): Promise<{ readonly user: Principal; readonly session: OpenedSession | null }> {
    const { password } = change;
    const requester = this.limits.toRequester(address);
    const proved = password === undefined ? null : await this.#prove(caller, password, address);
    return this.dataSource.transaction(async (tx) => {
      const before = await (proved === null
        ? this.auth.lockLive(tx, caller)
        : this.auth.lockProved(tx, proved));
      const { fullname = before.fullname, email = before.email } = change;
      const isNewEmail = email !== before.email;
      if (fullname === before.fullname && !isNewEmail) return { user: before, session: null };
      const emailVerifiedAt = isNewEmail ? null : before.emailVerifiedAt;
      const session = await this.auth.changeAccount(tx, before, { fullname, email, emailVerifiedAt });
      const request = { purpose: 'verify_email', requester, formerEmail: before.email } as const;
      if (isNewEmail) await this.otps.request(tx, { id: before.id, email }, request);
      return { user: session.caller, session };
    });
  }

  /**
   * Changes the password. Ends all other sessions and the reset code.
   * @throws Failure 400 if the current password is wrong
   */
  async changePassword(
    caller: Principal,
    { currentPassword, password }: ChangePasswordDto,
    address: string,
  ): Promise<OpenedSession> {
    const proved = await this.#prove(caller, currentPassword, address);
    const passwordHash = await hashPassword(password);
    return this.dataSource.transaction(async (tx) => {
      const before = await this.auth.lockProved(tx, proved);
      await this.otps.endResetCode(tx, before.id);
      return this.auth.changeAccount(tx, before, { passwordHash });
    });
  }

  /** Queues a reset code. The job looks up the account, so that the response time does not reveal if it exists. */
  async forgotPassword(email: string, address: string): Promise<void> {
    const payload: ForgotPasswordPayload = { email, requester: this.limits.toRequester(address) };
    const key = `${FORGOT_PASSWORD}:${email.toLowerCase()}`;
    await this.jobs.enqueue(this.dataSource.manager, FORGOT_PASSWORD, payload, { key });
  }

  /**
   * Sets a new password with a reset code and ends every session.
   * @throws Failure 400 like `OtpService.prove`, also for an unknown account
   */
  async resetPassword({ email, otp, password }: ResetPasswordDto, address: string): Promise<void> {
    const account = await this.users.findByEmail(email);
    const guesser = { account: account?.id ?? email, address };
    const checked = await this.otps.prove(account?.id, guesser, 'reset_password', otp);
    const passwordHash = await hashPassword(password);
    await this.dataSource.transaction(async (tx) => {
      const before = await this.users.lock(tx, checked.userId);
      if (before === null) throw failures.invalidOtp();
      await this.users.change(tx, before, { passwordHash });
      await this.sessions.endAll(tx, before.id);
      await this.otps.consume(tx, checked);
    });
  }

  async #sendResetCode({ email, requester }: ForgotPasswordPayload): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const account = await this.users.lockByEmail(tx, email);
      if (account !== null) await this.otps.request(tx, account, { purpose: 'reset_password', requester });
    });
  }

  async #prove(caller: Principal, password: string, address: string): Promise<Account> {
    const account = await this.users.findById(caller.id);
    if (account === null) throw failures.missingAccessToken();
    return this.auth.prove(account, { account: account.id, address }, password);
  }
}
