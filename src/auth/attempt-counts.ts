import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Client } from '../common/http/client.decorator.js';
import { Env } from '../config/env.js';
import { deleteExpired } from '../database/delete-expired.js';
import { JobsService } from '../jobs/jobs.service.js';
import { type AttemptCount, type Counter, isOverLimit, type Limit } from './limits.js';

const NOW_MS = '(extract(epoch FROM now()) * 1000)::bigint';

/** Statements lock the rows of counters in the order of their keys, so that parallel guesses cannot deadlock. */
const LOCK_COUNTERS = 'SELECT key FROM attempt_counts WHERE key = ANY ($1) ORDER BY key FOR UPDATE';

/** A /48 network contains 65,536 client addresses (/64 networks). Together, they have 16 times the limit of one. */
const NETWORK_FACTOR = 16;

type StoredCount = Pick<AttemptCount, 'key' | 'attempts'>;

/**
 * Counts and marks in the unlogged table `attempt_counts`. The table has no entity, because TypeORM cannot express most of the
 * statements. The library of version 1.2 chose the columns and the milliseconds.
 */
@Injectable()
export class AttemptCounts implements OnModuleInit {
  readonly #digestKey: Buffer;

  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    env: Env,
  ) {
    this.#digestKey = Buffer.from(hkdfSync('sha256', env.jwtAccessSecret, '', 'attempt counts', 32));
  }

  onModuleInit(): void {
    const removeExpired = () => deleteExpired(this.dataSource, 'attempt_counts', `expire <= ${NOW_MS}`);
    this.jobs.repeat('sweep-attempt-counts', removeExpired);
  }

  /** Returns a counter or a mark. Its key is a keyed digest, because the table must not contain client addresses. */
  toCounter(limit: Limit, ...parts: readonly (string | number)[]): Counter {
    const digest = createHmac('sha256', this.#digestKey).update(JSON.stringify(parts)).digest('base64url');
    return { ...limit, key: `${limit.name}:${digest}` };
  }

  /** Returns the counters of a client: that of its address, and that of its /48 network for IPv6. */
  toClientCounters(
    limit: Limit,
    { clientAddress, network48 }: Client,
    ...parts: readonly (string | number)[]
  ): readonly Counter[] {
    const counter = this.toCounter(limit, ...parts, clientAddress);
    if (network48 === undefined) return [counter];
    const ofNetwork = { ...limit, max: limit.max * NETWORK_FACTOR };
    return [counter, this.toCounter(ofNetwork, ...parts, network48)];
  }

  /** Counts an attempt and returns true, unless a limit rejects it. Without `tx`, the change is committed at once. */
  async tryAdd(counters: readonly Counter[], tx = this.dataSource.manager): Promise<boolean> {
    // Read first: a client that is beyond its limit gets no rows, and does not wait for locks.
    if (await this.isExhausted(counters, tx)) return false;
    if (!isOverLimit(await this.add(counters, tx))) return true;
    await this.takeBack(counters, tx);
    return false;
  }

  /** Returns true if a limit would reject one more attempt. Stores nothing. */
  async isExhausted(counters: readonly Counter[], tx = this.dataSource.manager): Promise<boolean> {
    const rows = await tx.query<StoredCount[]>(
      `SELECT key, coalesce(points, 0) + 1 AS attempts FROM unnest($1::text[]) AS counter (key)
       LEFT JOIN (SELECT * FROM attempt_counts WHERE expire > ${NOW_MS}) AS stored USING (key)`,
      [listKeys(counters)],
    );
    return isOverLimit(toAttemptCounts(counters, rows));
  }

  /** Counts an attempt, even beyond a limit. Returns the new numbers of attempts. */
  async add(counters: readonly Counter[], tx = this.dataSource.manager): Promise<AttemptCount[]> {
    // ORDER BY key: as in LOCK_COUNTERS.
    const rows = await tx.query<StoredCount[]>(
      `INSERT INTO attempt_counts AS stored (key, points, expire)
       SELECT key, 1, ${NOW_MS} + seconds * 1000
       FROM unnest($1::text[], $2::bigint[]) AS attempt (key, seconds) ORDER BY key
       ON CONFLICT (key) DO UPDATE SET
         points = CASE WHEN stored.expire > ${NOW_MS} THEN stored.points + 1 ELSE excluded.points END,
         expire = CASE WHEN stored.expire > ${NOW_MS} THEN stored.expire ELSE excluded.expire END
       RETURNING key, points AS attempts`,
      [listKeys(counters), counters.map(({ seconds }) => seconds)],
    );
    return toAttemptCounts(counters, rows);
  }

  /** Subtracts an attempt from each counter, except from those that have expired or were deleted meanwhile. */
  async takeBack(counters: readonly Counter[], tx = this.dataSource.manager): Promise<void> {
    await tx.query(
      `WITH locked AS (${LOCK_COUNTERS})
       UPDATE attempt_counts SET points = greatest(points - 1, 0)
       WHERE key IN (SELECT key FROM locked) AND expire > ${NOW_MS}`,
      [listKeys(counters)],
    );
  }

  async delete(counters: readonly Counter[]): Promise<void> {
    await this.dataSource.query(
      `WITH locked AS (${LOCK_COUNTERS}) DELETE FROM attempt_counts WHERE key IN (SELECT key FROM locked)`,
      [listKeys(counters)],
    );
  }

  async setMark({ key, seconds }: Counter, tx = this.dataSource.manager): Promise<void> {
    await tx.query(
      `INSERT INTO attempt_counts (key, points, expire) VALUES ($1, 1, ${NOW_MS} + $2::bigint * 1000)
       ON CONFLICT (key) DO UPDATE SET expire = excluded.expire`,
      [key, seconds],
    );
  }

  /** Returns true if a mark is set: one attempt exhausts it. */
  hasMark(mark: Counter): Promise<boolean> {
    return this.isExhausted([mark]);
  }
}

function listKeys(counters: readonly Counter[]): string[] {
  return counters.map(({ key }) => key);
}

function toAttemptCounts(counters: readonly Counter[], rows: readonly StoredCount[]): AttemptCount[] {
  const attempts = new Map(rows.map((row) => [row.key, row.attempts]));
  return counters.map((counter) => ({ ...counter, attempts: attempts.get(counter.key) ?? 0 }));
}
