import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';
import { deleteExpired } from '../database/delete-expired.js';
import type { ClientNetworks } from '../common/http/client.decorator.js';

const NOW_MS = '(extract(epoch FROM now()) * 1000)::bigint';

/** Limit of attempts in a window that begins with the first attempt. */
export interface Limit {
  /** Prefix of stored keys: a new name starts new counts. */
  readonly name: string;
  readonly max: number;
  readonly seconds: number;
}

/** Limit and key of a stored count, for example of the attempts at one account from one client address. */
export type Count = Limit & { readonly key: string };

/** Counts that one statement reads or changes, by the name that a decision gives them. */
export type CountGroups<K extends string> = Readonly<Record<K, readonly Count[]>>;

/** Numbers of attempts, in the order of the counts. */
type Attempts<K extends string> = Readonly<Record<K, readonly number[]>>;

interface StoredCount {
  readonly key: string;
  readonly points: number;
}

@Injectable()
export class AttemptCounts {
  readonly #digestKey: Buffer;

  constructor(
    private readonly dataSource: DataSource,
    env: Env,
  ) {
    this.#digestKey = Buffer.from(hkdfSync('sha256', env.jwtAccessSecret, '', 'attempt counts', 32));
  }

  /** Returns a count whose key is a keyed digest, because the table must not contain client addresses. */
  toCount(limit: Limit, ...parts: readonly (string | number)[]): Count {
    const digest = createHmac('sha256', this.#digestKey).update(JSON.stringify(parts)).digest('base64url');
    return { ...limit, key: `${limit.name}:${digest}` };
  }

  /** Returns the counts of a client: that of its address, and that of its /48 network for IPv6. */
  toClientCounts(
    limit: Limit,
    { address, network }: ClientNetworks,
    ...parts: readonly (string | number)[]
  ): readonly Count[] {
    const count = this.toCount(limit, ...parts, address);
    return network === undefined ? [count] : [count, this.toCount(limit, ...parts, network)];
  }

  /** Returns the numbers of attempts that each count would have after one more attempt. Stores nothing. */
  async readNext<K extends string>(
    groups: CountGroups<K>,
    tx = this.dataSource.manager,
  ): Promise<Attempts<K>> {
    const rows = await tx.query<StoredCount[]>(
      `SELECT key, points + 1 AS points FROM attempt_counts WHERE key = ANY ($1) AND expire > ${NOW_MS}`,
      [listCounts(groups).map(({ key }) => key)],
    );
    return groupAttempts(groups, rows, 1);
  }

  /**
   * Adds an attempt to each count, or subtracts one if `by` is -1. Without `tx`, the change is committed at once.
   * @returns the new number of attempts in each count: parallel attempts get different numbers
   */
  async add<K extends string>(
    groups: CountGroups<K>,
    tx = this.dataSource.manager,
    by: 1 | -1 = 1,
  ): Promise<Attempts<K>> {
    const counts = listCounts(groups);
    if (counts.length === 0) return groupAttempts(groups, [], 0);
    // SQL: an upsert that depends on the stored row. ORDER BY key: statements lock in one order and cannot deadlock.
    const rows = await tx.query<StoredCount[]>(
      `INSERT INTO attempt_counts AS stored (key, points, expire)
       SELECT key, greatest($3, 0), ${NOW_MS} + seconds * 1000
       FROM unnest($1::text[], $2::bigint[]) AS attempt (key, seconds) ORDER BY key
       ON CONFLICT (key) DO UPDATE SET
         points = CASE WHEN stored.expire > ${NOW_MS} THEN greatest(stored.points + $3, 0) ELSE excluded.points END,
         expire = CASE WHEN stored.expire > ${NOW_MS} THEN stored.expire ELSE excluded.expire END
       RETURNING key, points`,
      [counts.map(({ key }) => key), counts.map(({ seconds }) => seconds), by],
    );
    return groupAttempts(groups, rows, 0);
  }

  async takeBack(groups: CountGroups<string>, tx = this.dataSource.manager): Promise<void> {
    await this.add(groups, tx, -1);
  }

  async delete(counts: readonly Count[]): Promise<void> {
    await this.dataSource.query('DELETE FROM attempt_counts WHERE key = ANY ($1)', [
      counts.map(({ key }) => key),
    ]);
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
  async findSecondsLeft({ key }: Count, tx = this.dataSource.manager): Promise<number> {
    const [row] = await tx.query<{ readonly seconds: number }[]>(
      `SELECT (expire - ${NOW_MS})::float / 1000 AS seconds FROM attempt_counts
       WHERE key = $1 AND expire > ${NOW_MS}`,
      [key],
    );
    return row?.seconds ?? 0;
  }

  removeExpired(): Promise<void> {
    const rows = { table: 'attempt_counts', primaryKey: 'key', expiry: 'expire', now: NOW_MS };
    return deleteExpired(this.dataSource, rows);
  }
}

function listCounts(groups: CountGroups<string>): Count[] {
  return Object.values(groups).flat();
}

/** @param missing number of attempts of a count without a row */
function groupAttempts<K extends string>(
  groups: CountGroups<K>,
  rows: readonly StoredCount[],
  missing: number,
): Attempts<K> {
  const points = new Map(rows.map((row) => [row.key, row.points]));
  const attempts = {} as Record<K, readonly number[]>;
  for (const name of Object.keys(groups) as K[])
    attempts[name] = groups[name].map(({ key }) => points.get(key) ?? missing);
  return attempts;
}
