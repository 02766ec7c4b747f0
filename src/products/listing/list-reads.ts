import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import pg, { type Pool } from 'pg';
import { DataSource } from 'typeorm';
import { Env } from '../../config/env.js';
import { type NamedStatement, queryNamed } from '../../config/named-statement.js';
import { ProductChanges } from './product-changes.js';

const CONNECTIONS = 10;
const CONNECT_MS = 1000;
/** The primary answers instead; together they stay within what a caller waits. */
const STATEMENT_MS = 2000;
/** How long a replica is left alone after it failed. */
const REST_MS = 5000;

/**
 * Reads of the product list: at the replica of DATABASE_REPLICA_URL while it is known to have replayed everything
 * that the primary has told of, else at the primary. So a page from the replica is never older than one from the
 * primary, and a process reads its own writes.
 */
@Injectable()
export class ListReads implements OnModuleDestroy {
  readonly #logger = new Logger('ListReads');
  readonly #replica: Pool | null;
  /** Where in the write-ahead log the replica was seen last; it never goes back. */
  #replayed = 0n;
  #restsUntil = -Infinity;

  constructor(
    env: Env,
    private readonly dataSource: DataSource,
    private readonly changes: ProductChanges,
  ) {
    this.#replica = env.databaseReplicaUrl === undefined ? null : replicaPool(env.databaseReplicaUrl);
  }

  /** @throws QueryFailedError when the primary cannot answer */
  async query<Row extends object>(statement: NamedStatement, values: readonly unknown[]): Promise<Row[]> {
    const query = { ...statement, values: [...values] };
    const position = this.changes.position;
    if (this.#replica !== null && position !== null && performance.now() >= this.#restsUntil) {
      try {
        if (await this.#hasReplayed(this.#replica, position)) {
          return (await this.#replica.query<Row>(query)).rows;
        }
      } catch (error) {
        this.#restsUntil = performance.now() + REST_MS;
        this.#logger.warn('the replica does not answer: the list is read at the primary', error);
      }
    }
    return queryNamed<Row>(this.dataSource.manager, statement, values);
  }

  async onModuleDestroy(): Promise<void> {
    await this.#replica?.end();
  }

  async #hasReplayed(replica: Pool, position: bigint): Promise<boolean> {
    if (this.#replayed < position) {
      const { rows } = await replica.query<{ readonly replayed: string | null }>({
        name: 'replica-position',
        text: "SELECT pg_last_wal_replay_lsn() - '0/0' AS replayed",
      });
      // Null at a server that is no replica, one that was promoted included.
      this.#replayed = BigInt(rows[0]?.replayed ?? 0);
    }
    return this.#replayed >= position;
  }
}

function replicaPool(connectionString: string): Pool {
  const pool = new pg.Pool({
    connectionString,
    max: CONNECTIONS,
    application_name: 'bakery-list',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
  });
  pool.on('error', () => {
    // An idle connection broke; the pool drops it, and the next query reports what it meets.
  });
  return pool;
}
