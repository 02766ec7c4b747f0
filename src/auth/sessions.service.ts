import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AuthUser, Role } from '../common/access/auth-user.js';
import { Env } from '../config/env.js';
import { deleteExpired } from '../database/delete-expired.js';
import { Session } from './session.entity.js';
import type { LockedUser } from '../users/users.service.js';
import { ACCESS_LIFETIME_S, CLOCK_SKEW_S, REFRESH_LIFETIME_S } from './tokens.service.js';

/** Lifetime of a session without a refresh token: the time until its last access token has expired. */
const ACCESS_ONLY_S = ACCESS_LIFETIME_S + CLOCK_SKEW_S;
/**
 * Lifetime of a session with a refresh token: the refresh token, then the last access token that it issued. `AccessGuard` does
 * not read `expires_at`, which only tells `removeExpired` when the row can be deleted.
 */
const REFRESHABLE_S = REFRESH_LIFETIME_S + ACCESS_ONLY_S;

/** Sessions of a user. A login beyond this number ends the oldest session. */
const MAX_SESSIONS = 100;

/**
 * Stores and ends the sessions of users. A method that changes the sessions of one user takes the locked user: transactions
 * that lock the user first cannot deadlock.
 */
@Injectable()
export class SessionsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  /**
   * Stores a session, drops the oldest refresh tokens beyond SESSIONS_PER_ACCOUNT, and ends the oldest sessions beyond
   * MAX_SESSIONS. A session whose refresh token is dropped stays until its access tokens have expired.
   * The user was locked in an earlier statement. At READ COMMITTED, a statement sees only what was committed before its start:
   * if the statement below waited for the lock, it would miss the session of a parallel login.
   */
  async open(
    tx: EntityManager,
    { id }: LockedUser,
    sessionId: string,
    refreshTokenDigest: Buffer,
  ): Promise<void> {
    // SQL: one statement, because a login waits for it. Expired rows are left to `removeExpired`.
    await tx.query(
      `WITH dropped AS (
         UPDATE sessions SET refresh_token_digest = NULL, expires_at = now() + make_interval(secs => $5)
         WHERE id IN (
           SELECT id FROM sessions
           WHERE user_id = $2 AND refresh_token_digest IS NOT NULL AND expires_at > now()
           ORDER BY created_at DESC OFFSET $6
         )
       ), ended AS (
         DELETE FROM sessions WHERE id IN (
           SELECT id FROM sessions WHERE user_id = $2 ORDER BY created_at DESC OFFSET $7
         )
       )
       INSERT INTO sessions (id, user_id, refresh_token_digest, expires_at)
       VALUES ($1, $2, $3, now() + make_interval(secs => $4))`,
      [
        sessionId,
        id,
        refreshTokenDigest,
        REFRESHABLE_S,
        ACCESS_ONLY_S,
        this.env.sessionsPerAccount - 1,
        MAX_SESSIONS - 1,
      ],
    );
  }

  /** Reads role and session by primary key. The role is null if the user does not exist. */
  async readRoleAndLiveness({ id, sessionId }: AuthUser): Promise<{ role: Role | null; isLive: boolean }> {
    // SQL: users and sessions belong to different modules, and every changing request waits for this statement.
    const [state] = await this.dataSource.query<{ role: Role; isLive: boolean }[]>(
      `SELECT role, sessions.id IS NOT NULL AS "isLive"
       FROM users LEFT JOIN sessions ON sessions.id = $2 AND sessions.user_id = users.id WHERE users.id = $1`,
      [id, sessionId],
    );
    return state ?? { role: null, isLive: false };
  }

  /** Extends a session to the lifetime of an access token that is issued now. */
  async extendForAccessToken(tx: EntityManager, { id }: LockedUser, sessionId: string): Promise<void> {
    await tx.query(
      `UPDATE sessions SET expires_at = greatest(expires_at, now() + make_interval(secs => $3))
       WHERE id = $1 AND user_id = $2`,
      [sessionId, id, ACCESS_ONLY_S],
    );
  }

  isLive(tx: EntityManager, { id }: LockedUser, sessionId: string): Promise<boolean> {
    return tx.existsBy(Session, { id: sessionId, userId: id });
  }

  hasRefreshToken({ id, sessionId }: AuthUser, refreshTokenDigest: Buffer): Promise<boolean> {
    return this.dataSource.manager.existsBy(Session, { id: sessionId, userId: id, refreshTokenDigest });
  }

  async end(tx: EntityManager, { id }: LockedUser, sessionId: string): Promise<void> {
    await tx.delete(Session, { id: sessionId, userId: id });
  }

  async endAll(tx: EntityManager, { id }: LockedUser): Promise<void> {
    await tx.delete(Session, { userId: id });
  }

  removeExpired(): Promise<void> {
    const rows = { table: 'sessions', primaryKey: 'id', expiry: 'expires_at', now: 'now()' };
    return deleteExpired(this.dataSource, rows);
  }
}
