import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { errorCode } from './embedded-postgres/files.js';

/** Any number, as long as every version of the service uses the same one. */
const MIGRATION_LOCK = 7_225_001;
/** Without parameters: the protocol for statements with parameters would keep a snapshot until the next one. */
const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS taken`;
const CONNECT_DEADLINE_MS = 10_000;
/** Longer than any migration of a release may take: a start that waits longer is better seen than silent. */
const TURN_DEADLINE_MS = 15 * 60_000;
const TURN_PAUSE_MS = 200;

/**
 * How long a migration waits for a table's lock, in milliseconds. Other statements that want the table wait behind it,
 * plain reads too, so it must be shorter than a request's patience.
 */
export const LOCK_PATIENCE_MS = 2_000;
const RETRY_PAUSE_MS = { first: 500, longest: 10_000 };
const RETRY_DEADLINE_MS = 10 * 60_000;
/** lock_not_available, deadlock_detected: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const LOCKED = new Set(['55P03', '40P01']);

/** Receives one-line messages worth an operator's eye. */
export type Log = (message: string) => void;

/**
 * Does something to the schema while no other process does. The lock belongs to a transaction of its own: it is free
 * again the moment its holder is gone, and it also holds behind a pooler that shares sessions among transactions.
 * @throws Error when others have had the lock for 15 minutes
 */
export async function withMigrationLock<T>(databaseUrl: string, act: () => Promise<T>): Promise<T> {
  const lock = new Client({
    connectionString: databaseUrl,
    application_name: 'bakery-migrations',
    connectionTimeoutMillis: CONNECT_DEADLINE_MS,
    keepAlive: true,
  });
  lock.on('error', () => {
    // The statement that runs reports it; without a listener Node would end the process.
  });
  await lock.connect();
  try {
    // READ COMMITTED: between two statements it holds no snapshot, so it holds up no CREATE INDEX CONCURRENTLY.
    await lock.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await lock.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await takeTurn(lock);
    const result = await act();
    await lock.query('COMMIT');
    return result;
  } finally {
    await lock.end();
  }
}

/**
 * Asks again and again instead of waiting inside a statement: that would hold a snapshot, for which the holder's
 * CREATE INDEX CONCURRENTLY would wait in turn, both for ever.
 */
async function takeTurn(lock: Client): Promise<void> {
  const deadline = Date.now() + TURN_DEADLINE_MS;
  for (;;) {
    const { rows } = await lock.query<{ taken: boolean }>(TRY_LOCK);
    if (rows[0]?.taken === true) return;
    if (Date.now() > deadline) {
      throw new Error(
        `another process has been changing the schema for ${TURN_DEADLINE_MS / 60_000} minutes`,
      );
    }
    await delay(TURN_PAUSE_MS);
  }
}

/**
 * Repeats a change of the schema that gave up because a long transaction has one of its tables, with growing pauses
 * in which the statements that waited behind it run.
 * @param change leaves nothing behind when it fails
 * @throws the last failure, after 10 minutes; any other failure at once
 */
export async function repeatWhileLocked<T>(log: Log, change: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + RETRY_DEADLINE_MS;
  for (let pause = RETRY_PAUSE_MS.first; ; pause = Math.min(pause * 2, RETRY_PAUSE_MS.longest)) {
    try {
      return await change();
    } catch (error) {
      if (!LOCKED.has(errorCode(error) ?? '') || Date.now() + pause > deadline) throw error;
      log(`a migration waits for a table that another transaction has, and is repeated in ${pause} ms`);
      await delay(pause);
    }
  }
}
