import { readdirSync } from 'node:fs';
import pg from 'pg';
import type { DataSourceOptions, MigrationInterface } from 'typeorm';
import { countLostConnections } from './with-client.js';

type MigrationFile = Readonly<Record<string, new () => MigrationInterface & { readonly name: string }>>;

const MIGRATIONS_FOLDER = new URL('../../migrations/', import.meta.url);
const loadingFiles = readdirSync(MIGRATIONS_FOLDER)
  .filter((name) => name.endsWith('.js'))
  .sort()
  .map(async (name) => (await import(new URL(name, MIGRATIONS_FOLDER).href)) as MigrationFile);

/**
 * All migrations, oldest first: each file contains one, and the file's name begins with the migration's timestamp. TypeORM
 * does not load them itself, because a restore applies only the first ones.
 */
export const migrations = (await Promise.all(loadingFiles)).flatMap((file) => Object.values(file));
export const migrationNames = migrations.map((Migration) => new Migration().name);

// The payment gateway waits 15 seconds for the response to a notification. If the database hangs, the request should end
// earlier. A request that waits for a connection (4 s), then for a lock (4 s), and then for a response that never comes (6 s) ends
// after 14 s.
const CONNECTION_WAIT_MS = 4_000;
const LOCK_WAIT_MS = 4_000;
const STATEMENT_MS = 5_000;
/** Longer than `statement_timeout`, which does not apply to a COMMIT that waits for a synchronous standby. */
const RESPONSE_MS = 6_000;
/** Maximum time between two statements of a transaction. */
const IDLE_MS = 10_000;

/** Connections of a process, without those of its job queue. */
export const POOL_SIZE = 10;

/** Reads `bigint` as a number: ids stay far below 2^53, and `OrderPlacementService` rejects a total above it. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

export function dataSourceOptions(url: string, timeoutFactor = 1) {
  return {
    type: 'postgres',
    url,
    migrations,
    installExtensions: false,
    poolSize: POOL_SIZE,
    poolErrorHandler: () => {
      // The pool removes an idle connection that broke. If the database is unavailable, the next statement fails.
    },
    connectTimeoutMS: timeoutFactor * CONNECTION_WAIT_MS,
    extra: {
      application_name: 'bakery',
      // TypeORM adds its own listener only after the pool has handed over the connection. An error before that would be unhandled.
      onConnect: countLostConnections('requests'),
      types, // Not `parseInt8`, which would also change the clients of other code, such as that of the job queue.
      // PgBouncer must ignore the next three parameters. The limits of the database's role then apply (docs/growing.md).
      statement_timeout: timeoutFactor * STATEMENT_MS,
      lock_timeout: timeoutFactor * LOCK_WAIT_MS,
      idle_in_transaction_session_timeout: timeoutFactor * IDLE_MS,
      query_timeout: timeoutFactor * RESPONSE_MS,
      // Statements of a transaction that start together (`Promise.all`) are sent together. The server runs them in order.
      pipeline: true,
      keepAlive: true,
    },
  } as const satisfies DataSourceOptions;
}
