import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { type Account, UsersService } from '../users/users.service.js';
import { refreshTokenDigest, TokensService } from './tokens.service.js';

/** A session that has just started: its user and the two tokens that prove it. */
export interface Session {
  readonly caller: Caller;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/**
 * Sessions. An account has one at most: its id is stored with the account and stands in both tokens as `jti`. A token
 * belongs to the live session if its id is the stored one.
 */
@Injectable()
export class SessionsService {
  constructor(
    private readonly users: UsersService,
    private readonly tokens: TokensService,
  ) {}

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

  /** Ends the session of an access token, expired or not. Does nothing for any other text or an ended session. */
  async logout(accessToken: string | null): Promise<void> {
    const caller = accessToken === null ? null : this.tokens.verifyExpiredAccess(accessToken);
    if (caller !== null) await this.users.endSession(caller.id, caller.sessionId);
  }
}
