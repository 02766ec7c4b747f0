import { createHash, randomUUID } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { Env } from '../config/env.js';
import { deleteExpired } from '../database/delete-expired.js';
import { JobsService } from '../jobs/jobs.service.js';
import type { LockedUser, User } from '../users/user.entity.js';
import { UsersService } from '../users/users.service.js';
import { Session } from './session.entity.js';
import { ACCESS_LIFETIME_S, CLOCK_SKEW_S, type IssuedTokens, REFRESH_LIFETIME_S, Tokens } from './tokens.js';

/**
 * Time after which a row can be deleted: the refresh token has expired, and so has the last access token that it issued.
 * `AccessGuard` does not read `expires_at`.
 */
const ROW_LIFETIME_S = REFRESH_LIFETIME_S + ACCESS_LIFETIME_S + CLOCK_SKEW_S;

/** Maximum number of sessions of a user. A login beyond it ends the oldest session. */
const MAX_SESSIONS = 100;

/**
 * Starts, refreshes and ends the sessions of users. A method that changes the sessions of one user takes the locked user
 * or locks the user: transactions that lock the user first cannot deadlock.
 */
@Injectable()
export class SessionsService implements OnModuleInit {
  readonly #accessTokens: Tokens;
  readonly #refreshTokens: Tokens;

  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
    private readonly jobs: JobsService,
    private readonly users: UsersService,
  ) {
    this.#accessTokens = new Tokens(env.jwtAccessSecret, ACCESS_LIFETIME_S);
    this.#refreshTokens = new Tokens(env.jwtRefreshSecret, REFRESH_LIFETIME_S);
  }

  onModuleInit(): void {
    const removeExpired = () => deleteExpired(this.dataSource, 'sessions', 'expires_at <= now()');
    this.jobs.repeat('remove-expired-sessions', removeExpired);
  }

  /**
   * Starts a session, drops the oldest refresh tokens beyond SESSIONS_PER_ACCOUNT, and ends the oldest sessions beyond
   * MAX_SESSIONS. A session without a refresh token stays, because its access token may still be valid.
   * The user must be locked by an earlier statement: a statement that takes the lock itself would not see the session that a
   * parallel login committed during the wait.
   */
  async open(tx: EntityManager, user: LockedUser): Promise<IssuedTokens> {
    const tokens = this.issueAccessToken(user, randomUUID());
    const refreshToken = this.#refreshTokens.sign(tokens.user);
    const { sessionsPerAccount } = this.env;
    // SQL: one statement, because a login waits for it. The job `remove-expired-sessions` deletes expired rows.
    await tx.query(
      `WITH dropped AS (
         UPDATE sessions SET refresh_token_digest = NULL WHERE id IN (
           SELECT id FROM sessions
           WHERE user_id = $2 AND refresh_token_digest IS NOT NULL AND expires_at > now()
           ORDER BY created_at DESC OFFSET $5
         )
       ), ended AS (
         DELETE FROM sessions WHERE id IN (
           SELECT id FROM sessions WHERE user_id = $2 ORDER BY created_at DESC OFFSET ${MAX_SESSIONS - 1}
         )
       )
       INSERT INTO sessions (id, user_id, refresh_token_digest, expires_at)
       VALUES ($1, $2, $3, now() + make_interval(secs => $4))`,
      [tokens.user.sessionId, user.id, hashToken(refreshToken), ROW_LIFETIME_S, sessionsPerAccount - 1],
    );
    return { ...tokens, refreshToken };
  }

  /** Issues an access token with the current data of the user of a refresh token. */
  async refresh(refreshToken: string): Promise<IssuedTokens> {
    const authUser = this.#refreshTokens.verify(refreshToken);
    if (authUser === null) throw failures.invalidRefreshToken();
    const session = { ...toSessionKey(authUser), refreshTokenDigest: hashToken(refreshToken) };
    const isStored = await this.dataSource.manager.existsBy(Session, session);
    const user = isStored ? await this.users.findById(authUser.id) : null;
    if (user === null) throw failures.invalidRefreshToken();
    return this.issueAccessToken(user, authUser.sessionId);
  }

  /** Issues an access token with the data of the user. */
  issueAccessToken({ id, fullname, email, role }: User, sessionId: string): IssuedTokens {
    const user: AuthUser = { id, fullname, email, role, sessionId };
    return { user, accessToken: this.#accessTokens.sign(user) };
  }

  /**
   * Locks the row of a user. If the session is still live, a password that was checked before is still right: a change of the
   * password would have ended the session.
   * @throws Failure 401 if the user's session has been ended
   */
  async lockUserOfLiveSession(tx: EntityManager, authUser: AuthUser): Promise<LockedUser> {
    const user = await this.users.lock(tx, authUser.id);
    if (user === null || !(await tx.existsBy(Session, toSessionKey(authUser))))
      throw failures.missingAccessToken();
    return user;
  }

  /** Returns the user of a correctly signed access token, expired or not; null for any other text. */
  identifyUser(accessToken: string): AuthUser | null {
    return this.#accessTokens.verify(accessToken, { ignoreExpiration: true });
  }

  async end(tx: EntityManager, authUser: AuthUser): Promise<void> {
    await this.users.lock(tx, authUser.id);
    await tx.delete(Session, toSessionKey(authUser));
  }

  /** Changes the email, password or role of a user. Such a change ends all sessions of the user. */
  async changeUserAndEndAll(
    tx: EntityManager,
    user: LockedUser,
    changes: Partial<User>,
  ): Promise<LockedUser> {
    await tx.delete(Session, { userId: user.id });
    return this.users.change(tx, user, changes);
  }
}

/** Returns the primary key and the owner of the session of an authenticated user. */
function toSessionKey({ id, sessionId }: AuthUser) {
  return { id: sessionId, userId: id };
}

/** Returns the digest under which a refresh token is stored. A token is random enough to need no salt. */
function hashToken(refreshToken: string): Buffer {
  return createHash('sha256').update(refreshToken).digest();
}
