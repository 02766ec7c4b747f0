import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import type { Caller } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { type Account, UsersService } from '../users/users.service.js';
import type { LoginDto, RegisterDto } from './account.dto.js';
import { type Guesser, GuessLimitsService } from './guess-limits.service.js';
import { OtpMailsService } from './otp-mails.service.js';
import { hashPassword, verifyPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';
import { hashRefreshToken, TokensService } from './tokens.service.js';

export interface OpenedSession {
  readonly caller: Caller;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Starts, refreshes and ends sessions (contract 4.1 to 4.3, 11.2). */
@Injectable()
export class AuthService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly otpMails: OtpMailsService,
    private readonly limits: GuessLimitsService,
    private readonly tokens: TokensService,
    private readonly sessions: SessionsService,
  ) {}

  /** @throws QueryFailedError of `users_email_key` (409) if the e-mail is taken */
  async register({ email, fullname, password }: RegisterDto, clientAddress: string): Promise<OpenedSession> {
    const passwordHash = await hashPassword(password);
    return this.dataSource.transaction(async (tx) => {
      const account = await this.users.create(tx, { email, fullname, role: 'USER', passwordHash });
      await this.limits.rememberKnownAddress(tx, account.id, clientAddress);
      await this.otpMails.requestVerification(tx, account, clientAddress);
      return this.#openSession(tx, account);
    });
  }

  /** @throws Failure like `checkPassword` */
  async login(credentials: LoginDto, clientAddress: string): Promise<OpenedSession> {
    const found = await this.users.findByEmail(credentials.email);
    const guesser = { accountKey: found?.id ?? credentials.email.toLowerCase(), clientAddress };
    const authenticated = await this.checkPassword(found, guesser, credentials.password);
    const session = await this.dataSource.transaction(async (tx) => {
      const current = await this.users.lock(tx, authenticated.id);
      const { email, passwordHash } = authenticated;
      const isUnchanged = current?.email === email && current.passwordHash === passwordHash;
      return isUnchanged ? this.#openSession(tx, current) : null;
    });
    // If e-mail or password were changed during the check, check again: the credentials may be wrong now.
    return session ?? this.login(credentials, clientAddress);
  }

  /** @throws Failure 401 if the refresh token is absent, invalid or not stored */
  async refresh(refreshToken: string | null): Promise<Omit<OpenedSession, 'refreshToken'>> {
    if (refreshToken === null) throw failures.missingRefreshToken();
    const caller = this.tokens.verifyRefresh(refreshToken);
    const digest = hashRefreshToken(refreshToken);
    if (caller === null || !(await this.sessions.hasRefreshToken(caller, digest)))
      throw failures.refreshToken();
    return { caller, accessToken: this.tokens.signAccess(caller) };
  }

  /** Ends the session of a correctly signed access token, expired or not. Ignores any other text. */
  async logout(accessToken: string | null): Promise<void> {
    const caller = this.tokens.verifyAccessIgnoringExpiry(accessToken ?? '');
    if (caller === null) return;
    await this.dataSource.transaction(async (tx) => {
      await this.users.lock(tx, caller.id);
      await this.sessions.end(tx, caller);
    });
  }

  /**
   * Returns the account if the password is right.
   * @throws Failure 503 if too many guesses wait; 400 if the account does not exist, the password is wrong, or too many
   *   guesses were wrong. The three cases of 400 take the same time, so that the time does not reveal which accounts exist
   */
  async checkPassword(account: Account | null, guesser: Guesser, password: string): Promise<Account> {
    const authenticated = await this.limits.guessPassword(guesser, async () =>
      (await verifyPassword(password, account?.passwordHash)) ? account : null,
    );
    if (authenticated === null) throw failures.credentials();
    return authenticated;
  }

  /** Changes an account that `tx` has locked, ends all its sessions and starts a new one. */
  async changeAccount(tx: EntityManager, account: Account, change: Partial<Account>): Promise<OpenedSession> {
    const changed = await this.users.change(tx, account, change);
    await this.sessions.endAll(tx, account.id);
    return this.#openSession(tx, changed);
  }

  /** Locks the account of a caller. @throws Failure 401 if the caller's session has been ended */
  async lockWithLiveSession(tx: EntityManager, caller: Caller): Promise<Account> {
    const account = await this.users.lock(tx, caller.id);
    if (account === null || !(await this.sessions.isLive(tx, caller))) throw failures.missingAccessToken();
    return account;
  }

  /** Locks an account that `checkPassword` returned. @throws Failure 400 if the password has been changed since */
  async lockWithSamePassword(tx: EntityManager, authenticated: Account): Promise<Account> {
    const account = await this.users.lock(tx, authenticated.id);
    if (account?.passwordHash !== authenticated.passwordHash) throw failures.credentials();
    return account;
  }

  /** Starts a session. @param account that `tx` has locked or created */
  async #openSession(tx: EntityManager, { id, fullname, email, role }: Account): Promise<OpenedSession> {
    const caller: Caller = { id, fullname, email, role, sessionId: randomUUID() };
    const refreshToken = this.tokens.signRefresh(caller);
    await this.sessions.open(tx, caller, hashRefreshToken(refreshToken));
    return { caller, accessToken: this.tokens.signAccess(caller), refreshToken };
  }
}
