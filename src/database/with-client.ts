import pg from 'pg';
import { createCounter } from '../common/observability/metrics.js';

const CONNECT_TIMEOUT_MS = 5_000;

// https://opentelemetry.io/docs/specs/semconv/database/database-metrics/#connection-pools
export const POOL = 'db_client_connection_pool_name';

const lostConnections = createCounter(
  'bakery_database_connections_lost_total',
  'Database connections that broke, by pool. Each failover or restart of the server breaks the open ones',
  POOL,
  ['requests', 'jobs'],
);

/** Prevents the loss of a connection from ending the process. The running statement fails, or else the next statement. */
export function surviveLostConnection(client: pg.ClientBase): void {
  client.on('error', () => undefined);
}

/**
 * Returns a listener for new connections of a pool. The listener lets the process survive a lost connection, and counts the lost
 * connection in a metric.
 */
export function countLostConnections(pool: 'requests' | 'jobs'): (client: pg.ClientBase) => void {
  return (client) => {
    surviveLostConnection(client);
    client.once('error', () => {
      lostConnections.inc({ [POOL]: pool });
    });
  };
}

/** Runs `act` on a separate connection. Uncommitted changes are rolled back at the end. */
export async function withClient<T>(databaseUrl: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'bakery-connection',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  surviveLostConnection(client);
  try {
    await client.connect();
    return await act(client);
  } finally {
    await client.end();
  }
}

/**
 * Runs `act` in a transaction on a separate connection. Lifts the timeouts of the database's role for the transaction: copying a
 * large table, or images between two statements, takes longer than the limits of the service.
 */
export function withTransaction<T>(
  databaseUrl: string,
  act: (client: pg.Client) => Promise<T>,
  mode = 'ISOLATION LEVEL READ COMMITTED',
): Promise<T> {
  return withClient(databaseUrl, async (client) => {
    await client.query(`BEGIN ${mode}`);
    // Selects from `pg_settings` because older servers lack some.
    await client.query(
      `SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout',
         'idle_in_transaction_session_timeout', 'transaction_timeout', 'idle_session_timeout')`,
    );
    const result = await act(client);
    await client.query('COMMIT');
    return result;
  });
}

/**
 * Runs `act` while no other process has the lock. The lock belongs to a transaction, because a pooler in transaction mode does
 * not support locks of a session. The function polls, because a statement that waits for the lock would have a snapshot, and a
 * CREATE INDEX CONCURRENTLY of the process that has the lock would wait for that snapshot. At READ COMMITTED, the transaction
 * has no snapshot between two statements, so it does not delay VACUUM either.
 * @param key arbitrary key, which all versions of the service share
 * @param onBusy called each time another process has the lock; throws to give up, or resolves when the function should try
 *   again
 * @throws Error also if the lock was lost during `act`
 */
export function withLock<T>(
  databaseUrl: string,
  key: number,
  onBusy: () => void | Promise<void>,
  act: () => Promise<T>,
): Promise<T> {
  return withTransaction(databaseUrl, async (client) => {
    const attempt = `SELECT pg_try_advisory_xact_lock(${key}) AS "isLocked"`;
    while ((await client.query<{ isLocked: boolean }>(attempt)).rows[0]?.isLocked !== true) await onBusy();
    return act();
  });
}
