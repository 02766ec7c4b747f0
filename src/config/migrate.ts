import { runMigrations as runJobMigrations } from 'graphile-worker';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { dataSourceOptions, migrations } from './data-source.js';
import { errorCode } from './files.js';

/** Any number, as long as every version of the service uses the same one. */
const MIGRATION_LOCK = 7_225_001;
/** Longer than any migration of a release may take: a start that waits longer is better seen than silent. */
const TURN_DEADLINE_MS = 15 * 60_000;
const TURN_PAUSE_MS = 200;
/**
 * A migration may rewrite a table; requests may not take that long. So there is no statement_timeout. While it waits for
 * a table's lock, other statements wait behind it, plain reads too: it gives up before a request does.
 */
const SESSION = { application_name: 'bakery-migrations', lock_timeout: 2_000, keepAlive: true };
const RETRY_PAUSE_MS = { first: 500, longest: 10_000 };
const RETRY_DEADLINE_MS = 10 * 60_000;
/** lock_not_available, deadlock_detected: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const LOCKED = new Set(['55P03', '40P01']);

/** Receives a line for each time that a migration had to give way to a long transaction. */
type Log = (message: string) => void;

/**
 * Brings the schema of the service and of its job queue up to date. Processes that start together take turns.
 * @param names the migrations that are applied; all of them if left out
 */
export async function migrate(databaseUrl: string, log?: Log, names?: readonly string[]): Promise<void> {
  const wanted = migrations.filter((Migration) => names?.includes(new Migration().name) ?? true);
  await withDataSource(databaseUrl, wanted, (dataSource) =>
    inTurn(dataSource, async () => {
      await repeatWhileLocked(log, () => runJobMigrations({ connectionString: databaseUrl }));
      await repeatWhileLocked(log, () => dataSource.runMigrations({ transaction: 'each' }));
    }),
  );
}

/**
 * Takes back the migration that was applied last. The job queue's own schema is never taken back.
 * @returns its name; null when none is applied
 * @throws Error when this build does not know it
 */
export async function revertLastMigration(databaseUrl: string, log?: Log): Promise<string | null> {
  return await withDataSource(databaseUrl, migrations, (dataSource) =>
    inTurn(dataSource, async () => {
      const { applied, unknown } = await statusOf(dataSource);
      const last = applied.at(-1);
      if (last === undefined) return null;
      if (unknown.includes(last))
        throw new Error(`${last} was applied by a newer build: revert it with that one`);
      await repeatWhileLocked(log, () => dataSource.undoLastMigration({ transaction: 'each' }));
      return last;
    }),
  );
}

/** Names of the migrations that are applied, and of those that are not, in their order. Changes nothing. */
export function migrationStatus(databaseUrl: string) {
  return withDataSource(databaseUrl, migrations, statusOf);
}

/** The same on connections that are open. */
export async function statusOf(dataSource: DataSource) {
  const [table] = await dataSource.query<unknown[]>(`SELECT WHERE to_regclass('migrations') IS NOT NULL`);
  const rows = table
    ? await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id')
    : [];
  const applied = rows.map(({ name }) => name);
  const known = dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name);
  return {
    applied,
    /** Of this build, and not applied. */
    pending: known.filter((name) => !applied.includes(name)),
    /** Applied by a newer build: this one does not know them. */
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

async function withDataSource<T>(
  databaseUrl: string,
  wanted: typeof migrations,
  act: (dataSource: DataSource) => Promise<T>,
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

/**
 * Does something to the schema while no other process does. The lock belongs to a transaction of its own: it is free
 * again the moment its holder is gone, and it also holds behind a pooler that shares sessions among transactions.
 * @throws Error when others have had the lock for 15 minutes
 */
function inTurn<T>(dataSource: DataSource, change: () => Promise<T>): Promise<T> {
  // READ COMMITTED: between two statements it holds no snapshot, so it holds up no CREATE INDEX CONCURRENTLY.
  return dataSource.transaction('READ COMMITTED', async (lock) => {
    await lock.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    // Asks again and again instead of waiting inside a statement: that would hold a snapshot, for which the holder's
    // CREATE INDEX CONCURRENTLY would wait in turn, both for ever.
    const deadline = Date.now() + TURN_DEADLINE_MS;
    while (Date.now() < deadline) {
      const question = `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS taken`;
      const [answer] = await lock.query<{ taken: boolean }[]>(question);
      if (answer?.taken === true) return await change();
      await delay(TURN_PAUSE_MS);
    }
    throw new Error(`another process has been changing the schema for ${TURN_DEADLINE_MS / 60_000} minutes`);
  });
}

/**
 * Repeats a change of the schema that gave up because a long transaction has one of its tables, with growing pauses
 * in which the statements that waited behind it run.
 * @param change leaves nothing behind when it fails
 * @throws the last failure, after 10 minutes; any other failure at once
 */
async function repeatWhileLocked(log: Log | undefined, change: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + RETRY_DEADLINE_MS;
  for (let pause = RETRY_PAUSE_MS.first; ; pause = Math.min(pause * 2, RETRY_PAUSE_MS.longest)) {
    try {
      await change();
      return;
    } catch (error) {
      if (!LOCKED.has(errorCode(error) ?? '') || Date.now() + pause > deadline) throw error;
      log?.(`a migration waits for a table that another transaction has, and is repeated in ${pause} ms`);
      await delay(pause);
    }
  }
}
