import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, Raw } from 'typeorm';
import type { Caller, Role } from '../common/current-user.decorator.js';
import { Env } from '../config/env.js';
import { Session } from './session.entity.js';
import { ACCESS_LIFETIME_S, CLOCK_SKEW_S, REFRESH_LIFETIME_S } from './tokens.service.js';

/** Lifetime of a session without a refresh token: the time until its last access token has expired. */
const ACCESS_ONLY_S = ACCESS_LIFETIME_S + CLOCK_SKEW_S;
/** Lifetime of a session with a refresh token. No token of the session expires later, so checks ignore `expires_at`. */
const REFRESHABLE_S = REFRESH_LIFETIME_S + ACCESS_ONLY_S;

/** Methods with `tx` require that `tx` has locked or created the account, so that these transactions cannot deadlock. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  /**
   * Stores a session and drops the oldest refresh tokens beyond SESSIONS_PER_ACCOUNT. The sessions of dropped tokens stay.
   * @param tx has locked or created the account in an earlier statement. At READ COMMITTED, a statement sees only what was
   *   committed before its start: if the statement below waited for the lock, it would miss the session of a parallel login
   */
  async open(tx: EntityManager, { id, sessionId }: Caller, refreshTokenDigest: Buffer): Promise<void> {
    // SQL: one statement, because a login waits for it. Expired rows are left to `removeExpired`.
    await tx.query(
      `WITH dropped AS (
         UPDATE sessions SET refresh_token_digest = NULL, expires_at = now() + make_interval(secs => $5)
         WHERE id IN (
           SELECT id FROM sessions
           WHERE user_id = $2 AND refresh_token_digest IS NOT NULL AND expires_at > now()
           ORDER BY created_at DESC OFFSET $6
         )
       )
       INSERT INTO sessions (id, user_id, refresh_token_digest, expires_at)
       VALUES ($1, $2, $3, now() + make_interval(secs => $4))`,
      [sessionId, id, refreshTokenDigest, REFRESHABLE_S, ACCESS_ONLY_S, this.env.sessionsPerAccount - 1],
    );
  }

  /** Reads role and session by primary key. The role is null if the account does not exist. */
  async readState({ id, sessionId }: Caller): Promise<{ role: Role | null; isLive: boolean }> {
    // SQL: accounts and sessions belong to different modules, and every changing request waits for this statement.
    const [state] = await this.dataSource.query<{ role: Role; isLive: boolean }[]>(
      `SELECT role, sessions.id IS NOT NULL AS "isLive"
       FROM users LEFT JOIN sessions ON sessions.id = $2 AND sessions.user_id = users.id WHERE users.id = $1`,
      [id, sessionId],
    );
    return state ?? { role: null, isLive: false };
  }

  isLive(tx: EntityManager, { id, sessionId }: Caller): Promise<boolean> {
    return tx.existsBy(Session, { id: sessionId, userId: id });
  }

  hasRefreshToken({ id, sessionId }: Caller, refreshTokenDigest: Buffer): Promise<boolean> {
    return this.dataSource.manager.existsBy(Session, { id: sessionId, userId: id, refreshTokenDigest });
  }

  async end(tx: EntityManager, { id, sessionId }: Caller): Promise<void> {
    await tx.delete(Session, { id: sessionId, userId: id });
  }

  async endAll(tx: EntityManager, userId: number): Promise<void> {
    await tx.delete(Session, { userId });
  }

  async removeExpired(): Promise<void> {
    await this.dataSource.manager.delete(Session, { expiresAt: Raw((column) => `${column} < now()`) });
  }
}
