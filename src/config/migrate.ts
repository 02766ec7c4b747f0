import { runMigrations as runJobMigrations } from 'graphile-worker';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions, migrations } from './data-source.js';
import { LOCK_PATIENCE_MS, type Log, repeatWhileLocked, withMigrationLock } from './migration-lock.js';

const MIGRATIONS_TABLE = 'migrations';
/** A migration may rewrite a table; requests may not take that long. So there is no statement_timeout. */
const SESSION = { application_name: 'bakery-migrations', lock_timeout: LOCK_PATIENCE_MS, keepAlive: true };

/** Names of migrations, in their order. */
export interface MigrationStatus {
  readonly applied: readonly string[];
  /** Of this build, and not applied. */
  readonly pending: readonly string[];
  /** Applied by a newer build: this one does not know them. */
  readonly unknown: readonly string[];
  /** Of the job queue's own schema (graphile-worker); 0 when there is none. */
  readonly queueRevision: number;
}

/**
 * Brings the schema of the service and of its job queue up to date. Processes that start together take turns.
 * @param log receives a line for each time that a migration had to give way to a long transaction
 * @param names the migrations that are applied; all of them if left out
 */
export async function migrate(
  databaseUrl: string,
  log: Log = () => undefined,
  names?: readonly string[],
): Promise<void> {
  const wanted = migrations.filter((Migration) => names?.includes(new Migration().name) ?? true);
  await withMigrationLock(databaseUrl, async () => {
    await repeatWhileLocked(log, () => migrateQueue(databaseUrl));
    await withDataSource(
      databaseUrl,
      (dataSource) => repeatWhileLocked(log, () => dataSource.runMigrations({ transaction: 'each' })),
      wanted,
    );
  });
}

/**
 * Takes back the migration that was applied last. The job queue's own schema is never taken back.
 * @returns its name; null when none is applied
 * @throws Error when this build does not know it
 */
export async function revertLastMigration(
  databaseUrl: string,
  log: Log = () => undefined,
): Promise<string | null> {
  return await withMigrationLock(databaseUrl, () =>
    withDataSource(databaseUrl, async (dataSource) => {
      const before = await appliedMigrations(dataSource);
      const last = before.at(-1);
      if (last === undefined) return null;
      if (!namesOf(dataSource).includes(last)) {
        throw new Error(`${last} was applied by a newer build: revert it with that one`);
      }
      await repeatWhileLocked(log, () => dataSource.undoLastMigration({ transaction: 'each' }));
      return last;
    }),
  );
}

/** What is applied and what is not. Changes nothing. */
export async function migrationStatus(databaseUrl: string): Promise<MigrationStatus> {
  return await withDataSource(databaseUrl, async (dataSource) => {
    const applied = await appliedMigrations(dataSource);
    const known = namesOf(dataSource);
    return {
      applied,
      pending: known.filter((name) => !applied.includes(name)),
      unknown: applied.filter((name) => !known.includes(name)),
      queueRevision: await queueRevision(dataSource),
    };
  });
}

async function migrateQueue(databaseUrl: string): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl, ...SESSION, max: 2 });
  const ignore = (): void => {
    // The statement that runs reports it; without a listener Node would end the process.
  };
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  try {
    await runJobMigrations({ pgPool: pool });
  } finally {
    await pool.end();
  }
}

async function withDataSource<T>(
  databaseUrl: string,
  act: (dataSource: DataSource) => Promise<T>,
  wanted: typeof migrations = migrations,
): Promise<T> {
  const options = dataSourceOptions(databaseUrl);
  const dataSource = new DataSource({ ...options, migrations: wanted, extra: SESSION });
  await dataSource.initialize();
  try {
    return await act(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

function namesOf(dataSource: DataSource): string[] {
  return dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name);
}

async function appliedMigrations(dataSource: DataSource): Promise<string[]> {
  if (!(await exists(dataSource, MIGRATIONS_TABLE))) return [];
  const rows = await dataSource.query<{ name: string }[]>(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`);
  return rows.map(({ name }) => name);
}

async function queueRevision(dataSource: DataSource): Promise<number> {
  if (!(await exists(dataSource, 'graphile_worker.migrations'))) return 0;
  const rows = await dataSource.query<{ revision: number }[]>(
    'SELECT coalesce(max(id), 0) AS revision FROM graphile_worker.migrations',
  );
  return rows[0]?.revision ?? 0;
}

async function exists(dataSource: DataSource, table: string): Promise<boolean> {
  const rows = await dataSource.query<{ is: boolean }[]>('SELECT to_regclass($1) IS NOT NULL AS is', [table]);
  return rows[0]?.is === true;
}
