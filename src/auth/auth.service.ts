import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import type { Caller } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { type Account, UsersService } from '../users/users.service.js';
import type { LoginDto, RegisterDto } from './auth.dto.js';
import { LimitsService } from './limits.service.js';
import { OtpService } from './otp.service.js';
import { PasswordsService } from './passwords.service.js';
import { refreshTokenDigest, TokensService } from './tokens.service.js';

/** A session that has just started: its user and the two tokens that prove it. */
export interface Session {
  readonly caller: Caller;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/**
 * Begin and end of sessions (contract 4.1 to 4.3). An account has one session at most: its id is stored with the account
 * and stands in both tokens as `jti`. A token belongs to the live session if its id is the stored one.
 */
@Injectable()
export class AuthService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly passwords: PasswordsService,
    private readonly otps: OtpService,
    private readonly limits: LimitsService,
    private readonly tokens: TokensService,
  ) {}

  /**
   * Creates an account of role USER and signs it in. Its OTP mail is queued in the same transaction.
   * @param address of the caller, as `ClientAddress` gives it
   * @throws QueryFailedError of `users_email_key` (409) when the e-mail is taken
   */
  async register({ email, fullname, password }: RegisterDto, address: string): Promise<Session> {
    const passwordHash = await this.passwords.hash(password);
    const session = await this.dataSource.transaction(async (tx) => {
      const account = await this.users.create(tx, { email, fullname, role: 'USER', passwordHash });
      await this.otps.request(tx, { userId: account.id, purpose: 'verify_email' });
      return this.openSession(tx, account);
    });
    await this.limits.rememberOwner(session.caller.id, address);
    return session;
  }

  /**
   * Opens a session for the owner of a password.
   * @throws Failure 400 when the e-mail is unknown, the password wrong, or too many guesses were wrong
   */
  async login({ email, password }: LoginDto, address: string): Promise<Session> {
    const found = await this.users.findByEmail(email);
    const proved = await this.passwords.prove(found, { account: found?.id ?? email, address }, password);
    return this.dataSource.transaction(async (tx) => this.openSession(tx, await this.lockProved(tx, proved)));
  }

  /**
   * A new access token of the same session, with the claims of the refresh token.
   * @throws Failure 401 when the refresh token is absent, or not the one of the live session
   */
  async refresh(refreshToken: string | null): Promise<Omit<Session, 'refreshToken'>> {
    if (refreshToken === null) throw failures.missingRefreshToken();
    const caller = this.tokens.verifyRefresh(refreshToken);
    if (caller === null) throw failures.refreshToken();
    const account = await this.users.findById(caller.id);
    const isStored = account?.refreshTokenDigest?.equals(refreshTokenDigest(refreshToken)) ?? false;
    if (!isStored || account?.sessionId !== caller.sessionId) throw failures.refreshToken();
    return { caller, accessToken: this.tokens.signAccess(caller) };
  }

  /** Ends the session of an access token, expired or not. Does nothing for any other text or an ended session. */
  async logout(accessToken: string | null): Promise<void> {
    const caller = accessToken === null ? null : this.tokens.verifyExpiredAccess(accessToken);
    if (caller !== null) await this.users.endSession(caller.id, caller.sessionId);
  }

  /**
   * Starts a session, which replaces the former one.
   * @param account that `tx` has locked or created
   */
  async openSession(tx: EntityManager, { id, fullname, email, role }: Account): Promise<Session> {
    const caller: Caller = { id, fullname, email, role, sessionId: randomUUID() };
    const accessToken = this.tokens.signAccess(caller);
    const refreshToken = this.tokens.signRefresh(caller);
    await this.users.startSession(tx, id, caller.sessionId, refreshTokenDigest(refreshToken));
    return { caller, accessToken, refreshToken };
  }

  /**
   * Locks the account of a caller whose session is the live one.
   * @throws Failure 401 when the session has ended or the account is gone
   */
  async lockLive(tx: EntityManager, caller: Caller): Promise<Account> {
    const account = await this.users.lock(tx, caller.id);
    if (account?.sessionId !== caller.sessionId) throw failures.missingAccessToken();
    return account;
  }

  /**
   * Locks an account whose owner has just proved its password.
   * @throws Failure 400 when the password has been changed since it was checked
   */
  async lockProved(tx: EntityManager, proved: Account): Promise<Account> {
    const account = await this.users.lock(tx, proved.id);
    if (account?.passwordHash !== proved.passwordHash) throw failures.credentials();
    return account;
  }
}
