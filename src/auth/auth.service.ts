import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { failures } from '../common/errors.js';
import { UsersService } from '../users/users.service.js';
import type { LoginDto, RegisterDto } from './auth.dto.js';
import { GuessesService } from './guesses.service.js';
import { MailLimitsService } from './mail-limits.service.js';
import { OtpService } from './otp.service.js';
import { PasswordsService } from './passwords.service.js';
import { ProofsService } from './proofs.service.js';
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
    private readonly proofs: ProofsService,
    private readonly guesses: GuessesService,
    private readonly mails: MailLimitsService,
  ) {}

  /**
   * Creates an account of role USER and signs it in. Its OTP mail is queued in the same transaction.
   * @param address of the caller, as `ClientAddress` gives it
   * @throws QueryFailedError of `users_email_key` (409) when the e-mail is taken
   */
  async register({ email, fullname, password }: RegisterDto, address: string): Promise<Session> {
    const passwordHash = await this.passwords.hash(password);
    const mailAt = await this.mails.promisedAt(address);
    return this.dataSource.transaction(async (tx) => {
      const account = await this.users.create(tx, { email, fullname, role: 'USER', passwordHash });
      await this.otps.request(tx, account.id, 'verify_email', mailAt);
      await this.guesses.knowOwner(tx, { account: account.id, address });
      return this.sessions.openLocked(tx, account);
    });
  }

  /**
   * @param address of the caller, as `ClientAddress` gives it
   * @throws Failure 400 when the e-mail is unknown, the password wrong, or too many were, the same for all
   */
  async login({ email, password }: LoginDto, address: string): Promise<Session> {
    for (let attempt = 1; attempt <= LOGIN_ATTEMPTS; attempt += 1) {
      const account = await this.users.findByEmail(email);
      await this.proofs.password(account, { account: account?.id ?? email, address }, password);
      if (account === null) throw failures.credentials();
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
