import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import type { Caller } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { type Account, UsersService } from '../users/users.service.js';
import type { LoginDto, RegisterDto } from './auth.dto.js';
import { type Guesser, LimitsService } from './limits.service.js';
import { OtpService } from './otp.service.js';
import { hashPassword, isPassword } from './passwords.js';
import { refreshTokenDigest, TokensService } from './tokens.service.js';

/** A session that has just started: its user and the two tokens that prove it. */
export interface Session {
  readonly caller: Caller;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/**
 * Begin and end of sessions (contract 4.1 to 4.3, 11.2). A token belongs to the live session of its account if its `jti`
 * is the stored id. Addresses are what `ClientAddress` gives.
 */
@Injectable()
export class AuthService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly otps: OtpService,
    private readonly limits: LimitsService,
    private readonly tokens: TokensService,
  ) {}

  /** Creates an account and signs it in. @throws QueryFailedError of `users_email_key` (409) when the e-mail is taken */
  async register({ email, fullname, password }: RegisterDto, address: string): Promise<Session> {
    const passwordHash = await hashPassword(password);
    const session = await this.dataSource.transaction(async (tx) => {
      const account = await this.users.create(tx, { email, fullname, role: 'USER', passwordHash });
      await this.otps.request(tx, { userId: account.id, purpose: 'verify_email' });
      return this.openSession(tx, account);
    });
    await this.limits.rememberOwner(session.caller.id, address);
    return session;
  }

  /** Opens a session for the owner of a password. @throws Failure 400 as `prove` */
  async login(credentials: LoginDto, address: string): Promise<Session> {
    const { email, password } = credentials;
    const found = await this.users.findByEmail(email);
    const proved = await this.prove(found, { account: found?.id ?? email, address }, password);
    const session = this.#newSession(proved);
    const isOpen = await this.users.changeIfSame(proved, storedOf(session));
    // The account changed while its password was checked: the password may be another one, and the claims are stale.
    return isOpen ? session : this.login(credentials, address);
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
    const isStored = account?.refreshTokenDigest?.equals(refreshTokenDigest(refreshToken));
    if (isStored !== true || account?.sessionId !== caller.sessionId) throw failures.refreshToken();
    return { caller, accessToken: this.tokens.signAccess(caller) };
  }

  /** Ends the session of an access token, expired or not. Does nothing for any other text or an ended session. */
  async logout(accessToken: string | null): Promise<void> {
    const caller = accessToken === null ? null : this.tokens.verifyExpiredAccess(accessToken);
    if (caller !== null) await this.users.endSession(caller.id, caller.sessionId);
  }

  /**
   * Checks the password that proves the owner of an account, within the limits for guessing.
   * @throws Failure 400 when there is no account, its password is another one, or too many guesses were wrong; all take
   *   as long, so that the time of an answer does not tell which accounts exist
   */
  async prove(account: Account | null, guesser: Guesser, password: string): Promise<Account> {
    const proved = await this.limits.guess('password', guesser, async () =>
      (await isPassword(password, account?.passwordHash)) ? account : null,
    );
    if (proved === null) throw failures.credentials();
    return proved;
  }

  /**
   * Starts a session, which replaces the former one.
   * @param account that `tx` has locked or created
   * @param change of the account, made with it
   */
  async openSession(tx: EntityManager, account: Account, change: Partial<Account> = {}): Promise<Session> {
    const session = this.#newSession({ ...account, ...change });
    await this.users.change(tx, account, { ...change, ...storedOf(session) });
    return session;
  }

  /** Locks the account of a caller. @throws Failure 401 when the caller's session is not the live one */
  async lockLive(tx: EntityManager, caller: Caller): Promise<Account> {
    const account = await this.users.lock(tx, caller.id);
    if (account?.sessionId !== caller.sessionId) throw failures.missingAccessToken();
    return account;
  }

  /** Locks an account that `prove` gave. @throws Failure 400 when the password has been changed since */
  async lockProved(tx: EntityManager, proved: Account): Promise<Account> {
    const account = await this.users.lock(tx, proved.id);
    if (account?.passwordHash !== proved.passwordHash) throw failures.credentials();
    return account;
  }

  /** A session that is not stored yet. */
  #newSession({ id, fullname, email, role }: Account): Session {
    const caller: Caller = { id, fullname, email, role, sessionId: randomUUID() };
    const accessToken = this.tokens.signAccess(caller);
    const refreshToken = this.tokens.signRefresh(caller);
    return { caller, accessToken, refreshToken };
  }
}

/** What an account keeps of its session. */
function storedOf({ caller, refreshToken }: Session): Pick<Account, 'sessionId' | 'refreshTokenDigest'> {
  return { sessionId: caller.sessionId, refreshTokenDigest: refreshTokenDigest(refreshToken) };
}
