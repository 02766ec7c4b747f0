import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { stopAfterUse } from './stop-after-use.js';
import { until } from './wait.js';

/** Separate database on the PostgreSQL server of the test run. Tests use the pool to read or change stored data. */
export type TestDatabase = Readonly<Awaited<ReturnType<typeof copyDatabase>>>;

/** Copies the migrated template database, which takes about 50 ms. The copy is dropped after its use. */
export function createDatabase(): Promise<TestDatabase> {
  return copyDatabase(process.env.TEST_TEMPLATE_DATABASE);
}

/** Creates an empty database without migrations, which is dropped after its use. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return copyDatabase('template1');
}

/** Waits until at least this number of statements in the database wait for a lock. */
export async function waitForLock(database: TestDatabase, statements = 1): Promise<void> {
  await until('the statements wait for a lock', async () => (await countLockWaits(database)) >= statements);
}

/** Counts the statements that wait for a lock. */
export async function countLockWaits({ query }: TestDatabase): Promise<number> {
  const waiting = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND wait_event_type = 'Lock'`;
  return (await query(waiting)).length;
}

/**
 * Begins a transaction of the test with these statements, which can take locks. The transaction is rolled back after its use
 * unless the test commits it.
 */
export async function beginTransaction({ pool }: TestDatabase, statements: string) {
  const client = await pool.connect();
  let isOpen = true;
  const close = (): void => {
    // Closing the connection rolls back and releases the locks, even if the connection is broken.
    if (isOpen) client.release(true);
    isOpen = false;
  };
  await stopAfterUse(client, close);
  await client.query(`BEGIN; ${statements}`);
  const query = (sql: string) => client.query(sql);
  return { query, commit: () => query('COMMIT').finally(close) };
}

/**
 * Sends requests while a transaction with these statements is open. The transaction commits as soon as this number of
 * requests wait for one of its locks.
 */
export async function sendDuringTransaction<T>(
  database: TestDatabase,
  statements: string,
  send: () => PromiseLike<T>,
  requests = 1,
): Promise<T> {
  const { commit } = await beginTransaction(database, statements);
  const response = send().then((received) => received); // A request of supertest is sent when `then` is called.
  await waitForLock(database, requests);
  await commit();
  return response;
}

/**
 * Performs an action while a trigger rejects writes, then drops the trigger.
 * @param trigger kind, name, event and table, for example `TRIGGER rejection BEFORE INSERT ON users FOR EACH ROW`
 */
export async function withRejectedWrites<T>(
  { query }: Pick<TestDatabase, 'query'>,
  trigger: string,
  act: () => PromiseLike<T>,
): Promise<T> {
  await query(
    `CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'rejected by the test'; END $$;
     CREATE ${trigger} EXECUTE FUNCTION reject()`,
  );
  try {
    return await act();
  } finally {
    await query('DROP FUNCTION reject CASCADE');
  }
}

async function copyDatabase(template: string | undefined) {
  const { TEST_POSTGRES_URL: serverUrl } = process.env;
  if (serverUrl === undefined || template === undefined) throw new Error('global-setup.mjs has not run');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await queryOnce(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  // An idle connection breaks if a test stops the server or drops the database. Without a listener, Node would exit.
  pool.on('error', () => undefined);
  const database = {
    url: url.href,
    pool,
    query: async <Row>(sql: string, values: unknown[] = []): Promise<Row[]> =>
      (await pool.query(sql, values)).rows as Row[],
  };
  return stopAfterUse(database, async () => {
    await pool.end();
    await queryOnce(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
  });
}

/** Runs a statement on a connection of its own. Returns the rows. */
export async function queryOnce<Row>(url: string, statement: string, connectionTimeoutMillis = 0) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis });
  client.on('error', () => undefined); // If the connection is lost, the statement fails too.
  try {
    await client.connect();
    return (await client.query(statement)).rows as Row[];
  } finally {
    await client.end();
  }
}
