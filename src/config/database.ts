import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import { DataDirInUseError, type Supervisor } from './embedded-postgres/session.js';
import { errorCode } from './files.js';
import type { Env } from './env.js';

type DatabaseSettings = Pick<Env, 'databaseUrl' | 'dataDir'>;
type Log = (message: string) => void;

const CONNECT_TIMEOUT_MS = 10_000;
const TURN_PAUSE_MS = 200;

/** The database that this process uses; also the injection token under which modules receive it. */
export class Database {
  constructor(
    readonly url: string,
    /** An embedded one: this process supervises it and no other uses it. */
    readonly isExclusive: boolean,
    /** Stops it if this process supervises it. */
    readonly close: () => Promise<void> = () => Promise.resolve(),
  ) {}
}

/**
 * The database of DATABASE_URL, or else an embedded PostgreSQL under DATA_DIR.
 * @throws Error with one line that says why it cannot be used
 */
export async function openDatabase(
  { databaseUrl, dataDir }: DatabaseSettings,
  log: Log,
  supervisor: Supervisor = 'service',
): Promise<Database> {
  if (databaseUrl !== undefined) {
    await connectOnce(databaseUrl);
    return new Database(databaseUrl, false);
  }
  const postgres = await startEmbeddedPostgres({ dataDir, log, supervisor });
  return new Database(postgres.url, true, () => postgres.stop());
}

/**
 * The same for a command. While the service runs, its embedded database is used beside it. While another command has
 * started the database, this one waits: the database stops with the command that started it.
 */
export async function openRunningDatabase(settings: DatabaseSettings, log: Log): Promise<Database> {
  for (let hasTold = false; ; hasTold = true) {
    try {
      return await openDatabase(settings, log, 'command');
    } catch (error) {
      if (!(error instanceof DataDirInUseError)) throw error;
      if (error.holder === 'service') return new Database(error.url, false);
      if (!hasTold) log(`waiting for another command that uses DATA_DIR ${settings.dataDir}`);
      await delay(TURN_PAUSE_MS);
    }
  }
}

async function connectOnce(url: string): Promise<void> {
  let client: pg.Client | undefined;
  try {
    // Reads the certificates that the URL names.
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    client.on('error', () => {
      // `connect` reports it; without a listener Node would end the process.
    });
    await client.connect();
  } catch (error) {
    const { host, pathname } = new URL(url);
    throw new Error(`the database of DATABASE_URL (${host}${pathname}) ${reasonOf(error)}`, { cause: error });
  } finally {
    await client?.end().catch(() => undefined);
  }
}

function reasonOf(error: unknown): string {
  const code = errorCode(error instanceof AggregateError ? error.errors[0] : error);
  if (code === 'ECONNREFUSED') return 'does not accept connections: is it running there?';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'is on a host that cannot be found';
  if (code === '28P01' || code === '28000') return 'refuses this user or password';
  if (code === '3D000') return 'does not exist on that server';
  return `cannot be reached: ${error instanceof Error ? error.message : String(error)}`;
}
