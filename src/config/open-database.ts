import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Database } from './database.js';
import { DataDirInUseError, runningPostgresUrl, startEmbeddedPostgres } from './embedded-postgres.js';
import { errorCode } from './embedded-postgres/files.js';
import type { Env } from './env.js';

type DatabaseSettings = Pick<Env, 'databaseUrl' | 'dataDir'>;
type Log = (message: string) => void;

const CONNECT_TIMEOUT_MS = 10_000;
const TURN_PAUSE_MS = 200;

/** A database to use and, where this process supervises it, to stop. */
export class OpenDatabase extends Database {
  constructor(
    url: string,
    isExclusive: boolean,
    readonly close: () => Promise<void> = () => Promise.resolve(),
  ) {
    super(url, isExclusive);
  }
}

/**
 * The database of DATABASE_URL, or else an embedded PostgreSQL under DATA_DIR.
 * @throws Error with one line that says why it cannot be used
 */
export async function openDatabase(settings: DatabaseSettings, log: Log): Promise<OpenDatabase> {
  const { databaseUrl, dataDir } = settings;
  if (databaseUrl !== undefined) return await openExternal(databaseUrl);
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  return new OpenDatabase(postgres.url, true, () => postgres.stop());
}

/**
 * The same for a command. While the service runs, its embedded database is used beside it. While another command has
 * started the database, this one waits: the database stops with the command that started it.
 */
export async function openRunningDatabase(settings: DatabaseSettings, log: Log): Promise<OpenDatabase> {
  const { databaseUrl, dataDir } = settings;
  if (databaseUrl !== undefined) return await openExternal(databaseUrl);
  for (let hasTold = false; ; hasTold = true) {
    try {
      const postgres = await startEmbeddedPostgres({ dataDir, log, supervisor: 'command' });
      return new OpenDatabase(postgres.url, true, () => postgres.stop());
    } catch (error) {
      if (!(error instanceof DataDirInUseError)) throw error;
      if (error.holder === 'service') {
        return new OpenDatabase(await runningPostgresUrl(dataDir), false);
      }
      if (!hasTold) log(`waiting for another command that uses DATA_DIR ${dataDir}`);
      await delay(TURN_PAUSE_MS);
    }
  }
}

async function openExternal(url: string): Promise<OpenDatabase> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => {
    // `connect` reports it; without a listener Node would end the process.
  });
  try {
    await client.connect();
  } catch (error) {
    throw new Error(`the database of DATABASE_URL (${placeOf(url)}) ${reasonOf(error)}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
  return new OpenDatabase(url, false);
}

/** Host, port and name; no password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

function reasonOf(error: unknown): string {
  const code = errorCode(error instanceof AggregateError ? error.errors[0] : error);
  if (code === 'ECONNREFUSED') return 'does not accept connections: is it running there?';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'is on a host that cannot be found';
  if (code === '28P01' || code === '28000') return 'refuses this user or password';
  if (code === '3D000') return 'does not exist on that server';
  return `cannot be reached: ${error instanceof Error ? error.message : String(error)}`;
}
