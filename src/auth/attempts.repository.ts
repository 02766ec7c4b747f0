import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync } from 'node:crypto';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { DataSource, type EntityManager } from 'typeorm';
import { Env } from '../config/env.js';
import { queryNamed } from '../config/named-statement.js';
import {
  type AttemptLimit,
  GUESSES_AT_ONE_ACCOUNT,
  GUESSES_FROM_ONE_ADDRESS,
  GUESSES_OF_ONE_ADDRESS,
  KNOWN_ADDRESS_SECONDS,
  MAILS_OF_ONE_ADDRESS,
  MAILS_TO_ONE_ACCOUNT,
} from './attempt-limits.js';

const TABLE = 'attempt_counts';
/** Each guess reads it twice. */
const READ = {
  name: 'attempt-counts',
  text: `SELECT key, points, expire FROM ${TABLE} WHERE key = ANY ($1) AND expire > $2`,
};

/** What is counted, each within its own window. */
const COUNTERS = {
  'password-from': GUESSES_FROM_ONE_ADDRESS.password,
  'password-at': GUESSES_AT_ONE_ACCOUNT.password,
  'code-from': GUESSES_FROM_ONE_ADDRESS.code,
  'code-at': GUESSES_AT_ONE_ACCOUNT.code,
  'wrong-of': GUESSES_OF_ONE_ADDRESS,
  known: { free: 1, windowSeconds: KNOWN_ADDRESS_SECONDS },
  'mails-of': MAILS_OF_ONE_ADDRESS,
  'mails-to': MAILS_TO_ONE_ACCOUNT,
} as const satisfies Readonly<Record<string, AttemptLimit>>;
export type Counter = keyof typeof COUNTERS;

/** One count: a counter and whom it is of. */
export interface CountKey {
  readonly counter: Counter;
  readonly of: string;
}

/** How often, and how many seconds until that is forgotten. */
export interface Count {
  readonly count: number;
  readonly secondsLeft: number;
}

/**
 * Counts that several processes share, kept by rate-limiter-flexible in the table `attempt_counts`. Keys are digests
 * under a key of the service: the table names neither an address nor an account.
 */
@Injectable()
export class AttemptsRepository {
  readonly #digestKey: Buffer;
  readonly #limiters: ReadonlyMap<Counter, RateLimiterPostgres>;

  constructor(
    private readonly dataSource: DataSource,
    env: Env,
  ) {
    this.#digestKey = Buffer.from(hkdfSync('sha256', env.jwtAccessSecret, '', 'attempt counts', 32));
    this.#limiters = new Map(
      Object.entries(COUNTERS).map(([counter, { free, windowSeconds }]) => [
        counter as Counter,
        new RateLimiterPostgres({
          storeClient: dataSource,
          storeType: 'typeorm',
          tableName: TABLE,
          tableCreated: true,
          keyPrefix: counter,
          points: free,
          duration: windowSeconds,
          // A job does it, once for all processes.
          clearExpiredByTimeout: false,
        }),
      ]),
    );
  }

  /** @param whom ids, addresses; the same ones in the same order give the same key */
  key(counter: Counter, ...whom: readonly (string | number)[]): CountKey {
    const of = createHmac('sha256', this.#digestKey).update(JSON.stringify(whom)).digest('base64url');
    return { counter, of };
  }

  /** Reads several counts in one statement, which the library could only do one by one. */
  async read(keys: readonly CountKey[]): Promise<(key: CountKey) => Count> {
    const now = Date.now();
    const rows = await queryNamed<{ key: string; points: number; expire: string }>(
      this.dataSource.manager,
      READ,
      [keys.map(storedKey), now],
    );
    const counts = new Map(
      rows.map(({ key, points, expire }) => [
        key,
        { count: points, secondsLeft: (Number(expire) - now) / 1000 },
      ]),
    );
    return (key) => counts.get(storedKey(key)) ?? { count: 0, secondsLeft: 0 };
  }

  /** Counts one more. @returns how many there are in the window now */
  async add({ counter, of }: CountKey): Promise<number> {
    return (await this.#limiter(counter).penalty(of)).consumedPoints;
  }

  /** Begins a window anew with a count of one. */
  async renew({ counter, of }: CountKey): Promise<void> {
    await this.#limiter(counter).set(of, 1, COUNTERS[counter].windowSeconds);
  }

  /** The same within a transaction, where a second connection must not be waited for. */
  async renewIn(tx: EntityManager, key: CountKey): Promise<void> {
    const expire = Date.now() + COUNTERS[key.counter].windowSeconds * 1000;
    await tx.query(
      `INSERT INTO ${TABLE} (key, points, expire) VALUES ($1, 1, $2)
       ON CONFLICT (key) DO UPDATE SET points = excluded.points, expire = excluded.expire`,
      [storedKey(key), expire],
    );
  }

  async forget({ counter, of }: CountKey): Promise<void> {
    await this.#limiter(counter).delete(of);
  }

  /** Deletes what no longer counts. */
  async forgetExpired(): Promise<void> {
    await this.dataSource.query(`DELETE FROM ${TABLE} WHERE expire <= $1`, [Date.now()]);
  }

  #limiter(counter: Counter): RateLimiterPostgres {
    const limiter = this.#limiters.get(counter);
    if (limiter === undefined) throw new Error(`there is no counter ${counter}`);
    return limiter;
  }
}

/** As the library writes it. */
function storedKey({ counter, of }: CountKey): string {
  return `${counter}:${of}`;
}
