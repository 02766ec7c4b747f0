import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import type { Client } from '../common/http/client.decorator.js';
import type { User } from '../users/user.entity.js';
import { UsersService } from '../users/users.service.js';
import { AccountMailsService } from './account-mails.service.js';
import type { ChangePasswordDto, ResetPasswordDto, UpdateProfileDto } from './account.dto.js';
import { AuthService } from './auth.service.js';
import { ClientTurns, MIN_SECRET_TASK_MS } from './client-turns.js';
import { OtpService } from './otp.service.js';
import { hashPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';
import type { IssuedTokens } from './tokens.js';

/** Changes a user's own profile, password and verification (contract 11). An ended session cannot change anything (401). */
@Injectable()
export class AccountService {
  constructor(
    private readonly users: UsersService,
    private readonly turns: ClientTurns,
    private readonly auth: AuthService,
    private readonly otps: OtpService,
    private readonly mails: AccountMailsService,
    private readonly sessions: SessionsService,
  ) {}

  async sendOtp(authUser: AuthUser, client: Client): Promise<void> {
    await this.turns.runTransaction(client, async (tx) => {
      const user = await this.sessions.lockUserOfLiveSession(tx, authUser);
      await this.mails.requestVerification(tx, user, client);
    });
  }

  async requestReset(email: string, client: Client): Promise<void> {
    const request = (tx: EntityManager) => this.mails.requestReset(tx, email, client);
    await this.turns.runTransaction(client, request, MIN_SECRET_TASK_MS);
  }

  async verifyEmail(authUser: AuthUser, otp: string, client: Client): Promise<User> {
    const guess = { user: authUser, email: authUser.email, purpose: 'verify_email', client } as const;
    const check = () => this.otps.checkCode(guess, otp);
    const checked = await this.turns.runDatabaseTask(client, check, MIN_SECRET_TASK_MS);
    return this.turns.runTransaction(client, async (tx) => {
      // Lock the user before the code, as a change of the email does, so that these transactions cannot deadlock.
      const user = await this.sessions.lockUserOfLiveSession(tx, authUser);
      await this.otps.consume(tx, checked);
      return this.users.change(tx, user, { emailVerifiedAt: user.emailVerifiedAt ?? new Date() });
    });
  }

  /**
   * Changes name, email or language. A new email starts a session and ends all earlier ones. A new name keeps all sessions.
   * Returns new tokens if the claims of the earlier tokens are outdated.
   */
  async updateProfile(
    authUser: AuthUser,
    { password, fullname, email, language }: UpdateProfileDto,
    client: Client,
  ): Promise<{ user: User; tokens: IssuedTokens | null }> {
    if (email !== undefined || password !== undefined)
      await this.#checkPassword(authUser, password ?? '', client);
    return this.turns.runTransaction(client, async (tx) => {
      const before = await this.sessions.lockUserOfLiveSession(tx, authUser);
      const profile = { fullname: fullname ?? before.fullname, language: language ?? before.language };
      if (email !== undefined && email !== before.email) {
        const changes = { ...profile, email, emailVerifiedAt: null };
        const user = await this.sessions.changeUserAndEndAll(tx, before, changes);
        const tokens = await this.sessions.open(tx, user);
        await this.mails.requestVerification(tx, before, client, email);
        await this.mails.enqueueNotice(tx, before, 'email_changed');
        return { user, tokens };
      }
      const user = await this.users.change(tx, before, profile);
      if (user.fullname === before.fullname) return { user, tokens: null };
      return { user, tokens: this.sessions.issueAccessToken(user, authUser.sessionId) };
    });
  }

  /** Ends all sessions, starts a new one and deletes the reset code. */
  async changePassword(
    authUser: AuthUser,
    { currentPassword, password }: ChangePasswordDto,
    client: Client,
  ): Promise<IssuedTokens> {
    await this.#checkPassword(authUser, currentPassword, client);
    const passwordHash = await this.turns.runPasswordTask(client, () => hashPassword(password));
    return this.turns.runTransaction(client, async (tx) => {
      const before = await this.sessions.lockUserOfLiveSession(tx, authUser);
      await this.otps.delete(tx, { userId: before.id, purpose: 'reset_password' });
      await this.mails.enqueueNotice(tx, before, 'password_changed');
      const user = await this.sessions.changeUserAndEndAll(tx, before, { passwordHash });
      return this.sessions.open(tx, user);
    });
  }

  /** Changes the password and ends all sessions. An unknown user gets the same failure as a wrong code. */
  async resetPassword({ email, otp, password }: ResetPasswordDto, client: Client): Promise<void> {
    const check = async () => {
      const user = await this.users.findByEmail(email);
      return this.otps.checkCode({ user, email, purpose: 'reset_password', client }, otp);
    };
    const checked = await this.turns.runDatabaseTask(client, check, MIN_SECRET_TASK_MS);
    const passwordHash = await this.turns.runPasswordTask(client, () => hashPassword(password));
    await this.turns.runTransaction(client, async (tx) => {
      const before = await this.users.lock(tx, checked.userId);
      if (before === null) throw failures.invalidOtp();
      await this.sessions.changeUserAndEndAll(tx, before, { passwordHash });
      await this.otps.consume(tx, checked);
      await this.mails.enqueueNotice(tx, before, 'password_changed');
    });
  }

  async #checkPassword({ id, email }: AuthUser, password: string, client: Client): Promise<void> {
    await this.auth.authenticate(() => this.users.findById(id), { email, password }, client);
  }
}
