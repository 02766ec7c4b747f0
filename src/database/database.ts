import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../common/errors/error-info.js';
import type { Env } from '../config/env.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import { DataDirInUseError, type ProcessKind } from './embedded-postgres/supervisor-connection.js';
import { withClient } from './with-client.js';

type DatabaseSettings = Pick<Env, 'databaseUrl' | 'dataDir'>;
type Log = (message: string) => void;

const DATA_DIR_RETRY_MS = 200;

/** Query that returns one `WriteState`. A standby is always read-only. */
export const WRITE_STATE_QUERY = 'SELECT current_setting(\'transaction_read_only\')::boolean AS "isReadOnly"';
export interface WriteState {
  readonly isReadOnly: boolean;
}

/** The database that this process uses. Also the injection token under which modules receive it. */
export abstract class Database {
  abstract readonly url: string;
  /** True if this process supervises the embedded database: no other service uses it, but commands may connect. */
  abstract readonly isExclusive?: boolean;
  /** Factor for all timeouts. Larger than 1 in tests, because their machine may be busy. */
  abstract readonly timeoutFactor?: number;
  /** Stops an exclusive database. */
  abstract readonly close?: () => Promise<void>;
}

/** Checks the connection to DATABASE_URL. If DATABASE_URL is unset, starts an embedded PostgreSQL under DATA_DIR. */
export async function openDatabase(
  { databaseUrl, dataDir }: DatabaseSettings,
  log: Log,
  stopping: AbortSignal,
  processKind: ProcessKind = 'service',
): Promise<Database> {
  if (databaseUrl !== undefined) {
    await checkConnection(databaseUrl, processKind);
    return { url: databaseUrl };
  }
  const postgres = await startEmbeddedPostgres({ dataDir, log, stopping, processKind });
  return { url: postgres.url, isExclusive: true, close: () => postgres.stop() };
}

/**
 * Opens the database of DATABASE_URL or the embedded database for a command. If the service runs, the command uses the
 * service's embedded database. If another command started the embedded database, this command waits, because the database
 * stops when that command ends. If neither runs, this command starts the embedded database itself.
 */
export async function openDatabaseForCommand(
  settings: DatabaseSettings,
  log: Log,
  stopping: AbortSignal,
): Promise<Database> {
  for (let hasLogged = false; ; hasLogged = true) {
    try {
      return await openDatabase(settings, log, stopping, 'command');
    } catch (error) {
      if (!(error instanceof DataDirInUseError)) throw error;
      if (error.holder === 'service') return { url: error.url };
      if (!hasLogged) log(`waiting for another command that uses DATA_DIR ${settings.dataDir}`);
      await delay(DATA_DIR_RETRY_MS, undefined, { signal: stopping });
    }
  }
}

async function checkConnection(url: string, processKind: ProcessKind): Promise<void> {
  try {
    await withClient(url, async (client) => {
      // Some commands only read.
      if (processKind === 'service') assertWritable((await client.query<WriteState>(WRITE_STATE_QUERY)).rows);
    });
  } catch (error) {
    const { host, pathname } = new URL(url);
    const message = `the database of DATABASE_URL (${host}${pathname}) cannot be used: ${errorMessage(error)}`;
    throw new Error(message, { cause: error });
  }
}

/** @throws Error if the server accepts no writes, with the SQLSTATE that PostgreSQL returns for a write */
export function assertWritable([state]: readonly WriteState[]): void {
  if (state?.isReadOnly !== false)
    throw Object.assign(new Error('the server is read-only or a standby'), { code: '25006' });
}
