import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { until } from './wait.js';

/** A database of its own on the run's PostgreSQL. */
export interface TestDatabase {
  readonly url: string;
  /** For looking at what is stored, and for changing it behind the service's back. */
  readonly pool: pg.Pool;
  drop(): Promise<void>;
}

/** Copies the migrated template; about 50 ms. */
export function createDatabase(): Promise<TestDatabase> {
  return copyOf(process.env.TEST_TEMPLATE_DATABASE);
}

/** A database with nothing in it: no migration has run. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return copyOf('template1');
}

/** Waits until a statement of the service waits for a lock, which a transaction of the test holds. */
export async function untilLocked({ pool }: TestDatabase): Promise<void> {
  await until('a statement waits for a lock', async () => {
    const { rowCount } = await pool.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rowCount !== 0;
  });
}

async function copyOf(template: string | undefined): Promise<TestDatabase> {
  const { TEST_POSTGRES_URL: serverUrl } = process.env;
  if (serverUrl === undefined || template === undefined) throw new Error('global-setup.mjs has not run');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  // Idle connections are cut by tests that take the database away, and by the end of their database.
  pool.on('error', () => undefined);
  return {
    url: url.href,
    pool,
    drop: async () => {
      await pool.end();
      await onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
