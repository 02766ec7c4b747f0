import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { failures } from '../common/errors.js';
import { UsersService } from '../users/users.service.js';
import type { LoginDto, RegisterDto } from './auth.dto.js';
import { OtpService } from './otp.service.js';
import { PasswordsService } from './passwords.service.js';
import { type Session, SessionsService } from './sessions.service.js';
import { isStoredRefreshToken, TokensService } from './tokens.service.js';

/** How often a login is tried whose account is changed at that very moment. */
const LOGIN_ATTEMPTS = 3;

/** Registration and sessions (interface.md 4.1 to 4.3). */
@Injectable()
export class AuthService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly passwords: PasswordsService,
    private readonly sessions: SessionsService,
    private readonly tokens: TokensService,
    private readonly otps: OtpService,
  ) {}

  /**
   * Creates an account of role USER and signs it in. Its OTP mail is queued in the same transaction.
   * @throws QueryFailedError of `users_email_key` (409) when the e-mail is taken
   */
  async register({ email, fullname, password }: RegisterDto): Promise<Session> {
    const passwordHash = await this.passwords.hash(password);
    return this.dataSource.transaction(async (tx) => {
      const account = await this.users.create(tx, { email, fullname, role: 'USER', passwordHash });
      await this.otps.request(tx, account.id, 'verify_email');
      return this.sessions.openLocked(tx, account);
    });
  }

  /** @throws Failure 400 when the e-mail is unknown or the password wrong, the same for both */
  async login({ email, password }: LoginDto): Promise<Session> {
    for (let attempt = 1; attempt <= LOGIN_ATTEMPTS; attempt += 1) {
      const account = await this.users.findByEmail(email);
      const matches = await this.passwords.matches(account?.passwordHash, password);
      if (account === null || !matches) throw failures.credentials();
      const session = await this.sessions.open(this.dataSource.manager, account);
      if (session !== null) return session;
    }
    throw failures.unavailable();
  }

  /**
   * The caller that a refresh token names, with a new access token.
   * @throws Failure 401 when it is absent, or not the valid token of its account
   */
  async refresh(refreshToken: string | null): Promise<Omit<Session, 'refreshToken'>> {
    if (refreshToken === null) throw failures.missingRefreshToken();
    const principal = await this.tokens.verifyRefresh(refreshToken);
    if (principal === null) throw failures.refreshToken();
    const stored = await this.users.refreshTokenDigest(principal.id);
    if (!isStoredRefreshToken(stored, refreshToken)) throw failures.refreshToken();
    return { principal, accessToken: this.tokens.signAccess(principal) };
  }

  /** Forgets the refresh token of whoever an access token names, expired or not; of a token not ours nothing. */
  async logout(accessToken: string | null): Promise<void> {
    if (accessToken === null) return;
    const principal = await this.tokens.verifyAccessSignature(accessToken);
    if (principal !== null) await this.users.forgetRefreshToken(principal.id);
  }
}
