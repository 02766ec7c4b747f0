import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import type { AuthUser } from '../common/access/auth-user.js';
import { failures } from '../common/errors/failures.js';
import type { Language } from '../common/languages.js';
import { type LockedUser, type User, UsersService } from '../users/users.service.js';
import type { LoginDto, RegisterDto } from './account.dto.js';
import type { Client } from '../common/http/client.decorator.js';
import type { IssuedTokens } from './cookies.js';
import { type Guess, GuessLimitsService } from './guess-limits.service.js';
import { OtpMailsService } from './otp-mails.service.js';
import { runInTurn, transactInTurn } from './client-turns.js';
import { hashPassword, verifyPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';
import { hashRefreshToken, TokensService } from './tokens.service.js';

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

  async register(
    { email, fullname, password }: RegisterDto,
    language: Language | null,
    client: Client,
  ): Promise<IssuedTokens> {
    const passwordHash = await runInTurn(client, () => hashPassword(password));
    return transactInTurn(this.dataSource, client, async (tx) => {
      const user = await this.users.create(tx, { email, fullname, role: 'USER', passwordHash, language });
      await this.limits.rememberKnownAddress(tx, user.id, client);
      await this.otpMails.requestVerification(tx, user, client);
      return this.#openSession(tx, user);
    });
  }

  async login(credentials: LoginDto, client: Client): Promise<IssuedTokens> {
    const found = await this.users.findByEmail(credentials.email);
    const guess = { accountKey: found?.id ?? credentials.email.toLowerCase(), client };
    const authenticated = await this.authenticate(found, guess, credentials.password);
    const session = await transactInTurn(this.dataSource, client, async (tx) => {
      const current = await this.users.lock(tx, authenticated.id);
      const { email, passwordHash } = authenticated;
      const isUnchanged = current?.email === email && current.passwordHash === passwordHash;
      return isUnchanged ? this.#openSession(tx, current) : null;
    });
    // If email or password were changed during the check, check again: the credentials may be wrong now.
    return session ?? this.login(credentials, client);
  }

  async refresh(refreshToken: string | null): Promise<IssuedTokens> {
    if (refreshToken === null) throw failures.missingRefreshToken();
    const authUser = this.tokens.verifyRefresh(refreshToken);
    const digest = hashRefreshToken(refreshToken);
    if (authUser === null || !(await this.sessions.hasRefreshToken(authUser, digest)))
      throw failures.invalidRefreshToken();
    const user = await this.users.findById(authUser.id);
    if (user === null) throw failures.invalidRefreshToken();
    return this.issueAccessToken(user, authUser.sessionId);
  }

  /** Issues an access token with the current data of a user. */
  issueAccessToken({ id, fullname, email, role }: User, sessionId: string): IssuedTokens {
    const user: AuthUser = { id, fullname, email, role, sessionId };
    return { user, accessToken: this.tokens.signAccess(user) };
  }

  /** Ends the session of a correctly signed access token, expired or not. Ignores any other text. */
  async logout(accessToken: string | null): Promise<void> {
    const authUser = this.tokens.verifyAccessIgnoringExpiry(accessToken ?? '');
    if (authUser === null) return;
    await this.dataSource.transaction(async (tx) => {
      const user = await this.users.lock(tx, authUser.id);
      if (user !== null) await this.sessions.end(tx, user, authUser.sessionId);
    });
  }

  /**
   * Returns the user if the password is right.
   * @throws Failure 503 if too many guesses wait; 400 otherwise. An unknown user and too many wrong guesses take the same time
   *   as a wrong password, so that the time does not reveal which users exist
   */
  async authenticate(user: User | null, guess: Guess, password: string): Promise<User> {
    const isRight = await this.limits.checkPassword(
      guess,
      async () => (await verifyPassword(password, user?.passwordHash)) && user !== null,
    );
    if (user === null || !isRight) throw failures.wrongCredentials();
    return user;
  }

  /** Changes a user, ends all its sessions and starts a new one. */
  async changeAccount(tx: EntityManager, user: LockedUser, changes: Partial<User>): Promise<IssuedTokens> {
    const changed = await this.users.change(tx, user, changes);
    await this.sessions.endAll(tx, user);
    return this.#openSession(tx, changed);
  }

  /**
   * Locks the row of a user. A change of the password ends all sessions, so a password that was checked before is still right.
   * @throws Failure 401 if the user's session has been ended
   */
  async lockWithLiveSession(tx: EntityManager, { id, sessionId }: AuthUser): Promise<LockedUser> {
    const user = await this.users.lock(tx, id);
    if (user === null || !(await this.sessions.isLive(tx, user, sessionId)))
      throw failures.missingAccessToken();
    return user;
  }

  async #openSession(tx: EntityManager, user: LockedUser): Promise<IssuedTokens> {
    const tokens = this.issueAccessToken(user, randomUUID());
    const refreshToken = this.tokens.signRefresh(tokens.user);
    await this.sessions.open(tx, user, tokens.user.sessionId, hashRefreshToken(refreshToken));
    return { ...tokens, refreshToken };
  }
}
