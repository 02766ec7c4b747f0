import { setTimeout as delay } from 'node:timers/promises';
import { runMigrations as runJobMigrations } from 'graphile-worker';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { errorCode } from '../common/errors/error-info.js';
import { dataSourceOptions, migrationNames, migrations } from './data-source.js';
import { withLock, surviveLostConnection } from './with-client.js';

/** Key of an advisory lock. Only the process that holds this lock changes the schema. */
const TURN_LOCK = 7_225_001;
const TURN_POLL_MS = 200;
/**
 * Settings of the connections on which migrations run. They set no statement_timeout, because a migration may rewrite a table. A
 * limit of the database's role still applies (docs/growing.md). The lock_timeout is short: while a migration waits for a table
 * lock, every later statement on that table waits too, including reads.
 */
const MIGRATION_CONNECTION = { application_name: 'bakery-migrations', lock_timeout: 2_000, keepAlive: true };
/** Pause before a retry. Statements that waited behind the migration run during this pause. */
const RETRY_PAUSE_MS = 10_000;
/** lock_not_available, deadlock_detected: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const TABLE_LOCK_ERRORS = new Set(['55P03', '40P01']);

type Log = (message: string) => void;

/**
 * Applies the pending migrations of the service and of its job queue. Concurrent processes take turns.
 * @param known migrations of the service; without the last ones, the result is an earlier schema
 */
export async function migrate(databaseUrl: string, log?: Log, known = migrations): Promise<void> {
  const change = async (dataSource: DataSource) => {
    await migrateJobQueue(databaseUrl);
    await dataSource.runMigrations({ transaction: 'each' });
  };
  await changeSchema(databaseUrl, log, change, known);
}

async function migrateJobQueue(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, ...MIGRATION_CONNECTION });
  // graphile-worker warns about a pool without listeners. After a lost connection, the running migration fails.
  pool.on('error', () => undefined);
  pool.on('connect', surviveLostConnection);
  try {
    await runJobMigrations({ pgPool: pool });
  } finally {
    await pool.end();
  }
}

/** Reverts the last migration, but nothing of the job queue. Returns its name; null if no migration is applied. */
export async function revertLastMigration(databaseUrl: string, log?: Log): Promise<string | null> {
  return changeSchema(databaseUrl, log, async (dataSource) => {
    const { applied, unknown } = await readMigrationStatus(dataSource);
    const last = applied.at(-1);
    if (last === undefined) return null;
    if (unknown.includes(last))
      throw new Error(`${last} was applied by a newer build: revert it with that build`);
    await dataSource.undoLastMigration({ transaction: 'each' });
    return last;
  });
}

export function connectAndReadMigrationStatus(databaseUrl: string) {
  return withDataSource(databaseUrl, readMigrationStatus);
}

/** Returns the names of migrations, in order. */
export async function readMigrationStatus(dataSource: DataSource) {
  const [table] = await dataSource.query<{ exists: boolean }[]>(
    `SELECT to_regclass('migrations') IS NOT NULL AS "exists"`,
  );
  const rows = table?.exists
    ? await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id')
    : [];
  const applied = rows.map(({ name }) => name);
  return {
    applied,
    pending: migrationNames.filter((name) => !applied.includes(name)),
    /** Applied by a newer build and not known to this build. */
    unknown: applied.filter((name) => !migrationNames.includes(name)),
  };
}

async function withDataSource<T>(
  databaseUrl: string,
  act: (dataSource: DataSource) => Promise<T>,
  known = migrations,
): Promise<T> {
  const dataSource = new DataSource({
    ...dataSourceOptions(databaseUrl),
    migrations: known,
    extra: MIGRATION_CONNECTION,
  });
  await dataSource.initialize();
  try {
    return await act(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/**
 * Runs a change of the schema while no other process can change the schema.
 * @param change may be repeated after a failure: complete migrations stay. The failed migration was rolled back, or has no
 *   transaction and can run again (docs/decisions/13)
 */
function changeSchema<T>(
  databaseUrl: string,
  log: Log | undefined,
  change: (dataSource: DataSource) => Promise<T>,
  known = migrations,
): Promise<T> {
  let hasLogged = false;
  const wait = async () => {
    if (!hasLogged) log?.('waiting for another process that is changing the schema');
    hasLogged = true;
    await delay(TURN_POLL_MS);
  };
  const changeInTurn = (dataSource: DataSource) =>
    withLock(databaseUrl, TURN_LOCK, wait, () => retryOnTableLock(log, () => change(dataSource)));
  return withDataSource(databaseUrl, changeInTurn, known);
}

/** Retries a change of the schema while a long transaction locks a table that the change needs. */
async function retryOnTableLock<T>(log: Log | undefined, change: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await change();
    } catch (error) {
      if (!TABLE_LOCK_ERRORS.has(errorCode(error) ?? '')) throw error;
      log?.('a migration could not lock a table that another transaction uses; retrying');
      await delay(RETRY_PAUSE_MS);
    }
  }
}
