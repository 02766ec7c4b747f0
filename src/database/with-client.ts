import pg from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;

/** Runs `act` on a separate connection. Uncommitted changes are rolled back at the end. */
export async function withClient<T>(databaseUrl: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'bakery-connection',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // Without a listener, a lost connection would end the process. The running statement fails, or the next one.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await act(client);
  } finally {
    await client.end();
  }
}

/**
 * Runs `act` while no other process has the lock. The lock belongs to a transaction, because a pooler in transaction mode does
 * not support locks of a session. At READ COMMITTED, the transaction has no snapshot between its statements: a snapshot would
 * delay VACUUM, and a CREATE INDEX CONCURRENTLY of the lock's holder would wait for its end. So this function polls instead of
 * waiting in a statement.
 * @param key arbitrary key, which all versions of the service share
 * @param onBusy called while another process has the lock: throws, or resolves when to try again
 */
export function withLock<T>(
  databaseUrl: string,
  key: number,
  onBusy: () => Promise<void>,
  act: () => Promise<T>,
): Promise<T> {
  return withClient(databaseUrl, async (holder) => {
    await holder.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await liftTimeouts(holder);
    const attempt = `SELECT pg_try_advisory_xact_lock(${key}) AS "isLocked"`;
    while ((await holder.query<{ isLocked: boolean }>(attempt)).rows[0]?.isLocked !== true) await onBusy();
    return await act();
  });
}

/**
 * Lifts the timeouts of the database's role for the current transaction: copying a large table, or images between two
 * statements, takes longer than the limits of the service. Selects from `pg_settings` because older servers lack some.
 */
export async function liftTimeouts(client: pg.Client): Promise<void> {
  await client.query(
    `SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout',
       'idle_in_transaction_session_timeout', 'transaction_timeout', 'idle_session_timeout')`,
  );
}
