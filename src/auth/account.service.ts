import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthUser } from '../common/access/auth-user.js';
import { failures } from '../common/errors/failures.js';
import { type User, UsersService } from '../users/users.service.js';
import type { ChangePasswordDto, ResetPasswordDto, UpdateProfileDto } from './account.dto.js';
import { AccountNoticesService } from './account-notices.service.js';
import { AuthService } from './auth.service.js';
import type { Client } from '../common/http/client.decorator.js';
import type { IssuedTokens } from './cookies.js';
import { OtpMailsService } from './otp-mails.service.js';
import { OtpService } from './otp.service.js';
import { runInTurn, transactInTurn } from './client-turns.js';
import { hashPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';

/**
 * Changes a user's own profile, password and verification (contract 11). The methods that take an `AuthUser` throw a
 * Failure 401 if the session has ended.
 */
@Injectable()
export class AccountService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly auth: AuthService,
    private readonly otps: OtpService,
    private readonly otpMails: OtpMailsService,
    private readonly notices: AccountNoticesService,
    private readonly sessions: SessionsService,
  ) {}

  async sendOtp(authUser: AuthUser, client: Client): Promise<void> {
    await transactInTurn(this.dataSource, client, async (tx) => {
      const user = await this.auth.lockWithLiveSession(tx, authUser);
      await this.otpMails.requestVerification(tx, user, client);
    });
  }

  async requestReset(email: string, client: Client): Promise<void> {
    await transactInTurn(this.dataSource, client, (tx) => this.otpMails.requestReset(tx, email, client));
  }

  async verifyEmail(authUser: AuthUser, otp: string, client: Client): Promise<User> {
    const checked = await this.otps.checkCode(
      { accountKey: authUser.id, email: authUser.email, client },
      'verify_email',
      otp,
    );
    return transactInTurn(this.dataSource, client, async (tx) => {
      // Lock the user before the code, as a change of the email does, so that these transactions cannot deadlock.
      const user = await this.auth.lockWithLiveSession(tx, authUser);
      await this.otps.consume(tx, checked);
      return this.users.change(tx, user, { emailVerifiedAt: user.emailVerifiedAt ?? new Date() });
    });
  }

  /**
   * Changes name, email or language. A new email starts a session and ends all earlier ones. A new name keeps all
   * sessions.
   * @returns the user, and new tokens if the claims of the earlier ones are outdated
   */
  async updateProfile(
    authUser: AuthUser,
    { password, fullname, email, language }: UpdateProfileDto,
    client: Client,
  ): Promise<{
    readonly user: Pick<User, 'id' | 'fullname' | 'email' | 'role'>;
    readonly tokens: IssuedTokens | null;
  }> {
    if (email !== undefined || password !== undefined)
      await this.#checkPassword(authUser, password ?? '', client);
    return transactInTurn(this.dataSource, client, async (tx) => {
      const before = await this.auth.lockWithLiveSession(tx, authUser);
      const profile = { fullname: fullname ?? before.fullname, language: language ?? before.language };
      if (email !== undefined && email !== before.email) {
        const tokens = await this.auth.changeAccount(tx, before, {
          ...profile,
          email,
          emailVerifiedAt: null,
        });
        await this.otpMails.requestVerification(tx, before, client, email);
        await this.notices.enqueue(tx, before, 'email_changed');
        return { user: tokens.user, tokens };
      }
      const user = await this.users.change(tx, before, profile);
      if (user.fullname === before.fullname) return { user, tokens: null };
      await this.sessions.extendForAccessToken(tx, user, authUser.sessionId);
      return { user, tokens: this.auth.issueAccessToken(user, authUser.sessionId) };
    });
  }

  /** Ends all sessions, starts a new one and invalidates the reset code. */
  async changePassword(
    authUser: AuthUser,
    { currentPassword, password }: ChangePasswordDto,
    client: Client,
  ): Promise<IssuedTokens> {
    await this.#checkPassword(authUser, currentPassword, client);
    const passwordHash = await runInTurn(client, () => hashPassword(password));
    return transactInTurn(this.dataSource, client, async (tx) => {
      const before = await this.auth.lockWithLiveSession(tx, authUser);
      await this.otps.invalidateResetCode(tx, before.id);
      await this.notices.enqueue(tx, before, 'password_changed');
      return this.auth.changeAccount(tx, before, { passwordHash });
    });
  }

  /** Changes the password and ends all sessions. An unknown user gets the same failure as a wrong code. */
  async resetPassword({ email, otp, password }: ResetPasswordDto, client: Client): Promise<void> {
    const accountKey = (await this.users.findByEmail(email))?.id ?? email.toLowerCase();
    const checked = await this.otps.checkCode({ accountKey, email, client }, 'reset_password', otp);
    const passwordHash = await runInTurn(client, () => hashPassword(password));
    await transactInTurn(this.dataSource, client, async (tx) => {
      const before = await this.users.lock(tx, checked.userId);
      if (before === null) throw failures.invalidOtp();
      await this.users.change(tx, before, { passwordHash });
      await this.sessions.endAll(tx, before);
      await this.otps.consume(tx, checked);
      await this.notices.enqueue(tx, before, 'password_changed');
    });
  }

  async #checkPassword({ id }: AuthUser, password: string, client: Client): Promise<void> {
    await this.auth.authenticate(await this.users.findById(id), { accountKey: id, client }, password);
  }
}
