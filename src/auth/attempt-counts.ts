import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';

const NOW_MS = '(extract(epoch FROM now()) * 1000)::bigint';

/** Limit of attempts in a window that begins with the first attempt. */
export interface Limit {
  /** Prefix of stored keys: a new name starts new counts. */
  readonly name: string;
  readonly max: number;
  readonly seconds: number;
}

/** Limit and key of a stored count, for example of the attempts at one account from one client address. */
type Count = Limit & { readonly key: string };

@Injectable()
export class AttemptCounts {
  readonly #digestKey: Buffer;

  constructor(
    private readonly dataSource: DataSource,
    env: Env,
  ) {
    this.#digestKey = Buffer.from(hkdfSync('sha256', env.jwtAccessSecret, '', 'attempt counts', 32));
  }

  toCount(limit: Limit, ...parts: readonly (string | number)[]): Count {
    return { ...limit, key: `${limit.name}:${this.digest(...parts)}` };
  }

  /** Returns a keyed digest, because tables and job payloads must not contain client addresses. */
  digest(...parts: readonly (string | number)[]): string {
    return createHmac('sha256', this.#digestKey).update(JSON.stringify(parts)).digest('base64url');
  }

  /**
   * Adds an attempt to each count, or subtracts one if `by` is -1. Without `tx`, the change is committed at once.
   * @returns the new number of attempts in each count: parallel attempts get different numbers
   */
  async add(counts: readonly Count[], tx = this.dataSource.manager, by: 1 | -1 = 1): Promise<number[]> {
    // SQL: an upsert that depends on the stored row. ORDER BY key: statements lock in one order and cannot deadlock.
    const rows = await tx.query<{ readonly key: string; readonly points: number }[]>(
      `INSERT INTO attempt_counts AS stored (key, points, expire)
       SELECT key, greatest($3, 0), ${NOW_MS} + seconds * 1000
       FROM unnest($1::text[], $2::bigint[]) AS attempt (key, seconds) ORDER BY key
       ON CONFLICT (key) DO UPDATE SET
         points = CASE WHEN stored.expire > ${NOW_MS} THEN greatest(stored.points + $3, 0) ELSE excluded.points END,
         expire = CASE WHEN stored.expire > ${NOW_MS} THEN stored.expire ELSE excluded.expire END
       RETURNING key, points`,
      [counts.map(({ key }) => key), counts.map(({ seconds }) => seconds), by],
    );
    const points = new Map(rows.map((row) => [row.key, row.points]));
    return counts.map(({ key }) => points.get(key) ?? 0);
  }

  async takeBack(counts: readonly Count[], tx = this.dataSource.manager): Promise<void> {
    await this.add(counts, tx, -1);
  }

  async delete({ key }: Count): Promise<void> {
    await this.dataSource.query('DELETE FROM attempt_counts WHERE key = $1', [key]);
  }

  /** Starts a new window with one attempt. */
  async restart({ key, seconds }: Count, tx = this.dataSource.manager): Promise<void> {
    await tx.query(
      `INSERT INTO attempt_counts (key, points, expire) VALUES ($1, 1, ${NOW_MS} + $2::bigint * 1000)
       ON CONFLICT (key) DO UPDATE SET points = excluded.points, expire = excluded.expire`,
      [key, seconds],
    );
  }

  /** Returns the seconds until the window of a count ends; 0 if the window has ended or has not begun. */
  async findSecondsLeft({ key }: Count): Promise<number> {
    const [row] = await this.dataSource.query<{ readonly seconds: number }[]>(
      `SELECT (expire - ${NOW_MS})::float / 1000 AS seconds FROM attempt_counts
       WHERE key = $1 AND expire > ${NOW_MS}`,
      [key],
    );
    return row?.seconds ?? 0;
  }

  /** Deletes counts whose windows have ended, except those that a running transaction has locked. */
  async removeExpired(): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM attempt_counts WHERE key IN
         (SELECT key FROM attempt_counts WHERE expire <= ${NOW_MS} FOR UPDATE SKIP LOCKED)`,
    );
  }
}
