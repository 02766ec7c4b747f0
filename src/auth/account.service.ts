import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Caller, Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { type Account, UsersService } from '../users/users.service.js';
import type { ChangePasswordDto, ResetPasswordDto, UpdateProfileDto } from './account.dto.js';
import { AuthService, type OpenedSession } from './auth.service.js';
import { OtpMailsService } from './otp-mails.service.js';
import { OtpService } from './otp.service.js';
import { hashPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';

/** Use cases of the owner of an account (contract 11). */
@Injectable()
export class AccountService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly auth: AuthService,
    private readonly otps: OtpService,
    private readonly otpMails: OtpMailsService,
    private readonly sessions: SessionsService,
  ) {}

  async sendOtp(caller: Caller, clientAddress: string): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const account = await this.auth.lockWithLiveSession(tx, caller);
      await this.otpMails.requestVerification(tx, account, clientAddress);
    });
  }

  /** @throws Failure 400 if the code is not valid, 401 if the session has been ended */
  async verifyEmail(caller: Caller, otp: string, clientAddress: string): Promise<Account> {
    const checked = await this.otps.checkCode({ accountKey: caller.id, clientAddress }, 'verify_email', otp);
    return this.dataSource.transaction(async (tx) => {
      // Lock the account before the code, as a change of the e-mail does, so that these transactions cannot deadlock.
      const account = await this.auth.lockWithLiveSession(tx, caller);
      await this.otps.consume(tx, checked);
      return this.users.change(tx, account, { emailVerifiedAt: account.emailVerifiedAt ?? new Date() });
    });
  }

  /**
   * Changes name or e-mail. With an e-mail, the DTO requires the password. A change starts a session and ends all earlier ones.
   * @returns the user, and the new session if something changed
   * @throws Failure 400 for a wrong password, 409 for a taken e-mail, 401 for an ended session if no password is given
   */
  async updateProfile(
    caller: Caller,
    { password, ...change }: UpdateProfileDto,
    clientAddress: string,
  ): Promise<{ readonly user: Principal; readonly session: OpenedSession | null }> {
    const authenticated =
      password === undefined ? null : await this.#checkPassword(caller, password, clientAddress);
    return this.dataSource.transaction(async (tx) => {
      const before = await (authenticated === null
        ? this.auth.lockWithLiveSession(tx, caller)
        : this.auth.lockWithSamePassword(tx, authenticated));
      const { fullname = before.fullname, email = before.email } = change;
      const isNewEmail = email !== before.email;
      if (fullname === before.fullname && !isNewEmail) return { user: before, session: null };
      const emailVerifiedAt = isNewEmail ? null : before.emailVerifiedAt;
      const session = await this.auth.changeAccount(tx, before, { fullname, email, emailVerifiedAt });
      if (isNewEmail)
        await this.otpMails.requestVerification(tx, { id: before.id, email }, clientAddress, before.email);
      return { user: session.caller, session };
    });
  }

  /** Ends all sessions, starts a new one and invalidates the reset code. @throws Failure 400 if the password is wrong */
  async changePassword(
    caller: Principal,
    { currentPassword, password }: ChangePasswordDto,
    clientAddress: string,
  ): Promise<OpenedSession> {
    const authenticated = await this.#checkPassword(caller, currentPassword, clientAddress);
    const passwordHash = await hashPassword(password);
    return this.dataSource.transaction(async (tx) => {
      const before = await this.auth.lockWithSamePassword(tx, authenticated);
      await this.otps.invalidateResetCode(tx, before.id);
      return this.auth.changeAccount(tx, before, { passwordHash });
    });
  }

  /** Ends all sessions. @throws Failure 400 if the code is not valid, also for an unknown account */
  async resetPassword({ email, otp, password }: ResetPasswordDto, clientAddress: string): Promise<void> {
    const accountKey = (await this.users.findByEmail(email))?.id ?? email.toLowerCase();
    const checked = await this.otps.checkCode({ accountKey, clientAddress }, 'reset_password', otp);
    const passwordHash = await hashPassword(password);
    await this.dataSource.transaction(async (tx) => {
      const before = await this.users.lock(tx, checked.userId);
      if (before === null) throw failures.invalidOtp();
      await this.users.change(tx, before, { passwordHash });
      await this.sessions.endAll(tx, before.id);
      await this.otps.consume(tx, checked);
    });
  }

  async #checkPassword({ id }: Principal, password: string, clientAddress: string): Promise<Account> {
    const account = await this.users.findById(id);
    if (account === null) throw failures.missingAccessToken();
    return this.auth.checkPassword(account, { accountKey: id, clientAddress }, password);
  }
}
