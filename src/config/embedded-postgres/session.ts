import pg from 'pg';
import { type Cluster, type Passwords, SUPERUSER } from './cluster.js';
import { errorCode } from './files.js';
import type { Server } from './postmaster.js';

const DATABASE = 'bakery';
const OWNER = 'bakery';
/** Advisory locks are counted per database, and nothing else uses the database `postgres`. */
const SUPERVISOR_LOCK = 0x62616b;
const CONNECT_TIMEOUT_MS = 2_000;
/** The server notices within milliseconds that the process of a former holder ended. */
const LOCK_PATIENCE_MS = 500;
/** https://www.postgresql.org/docs/18/errcodes-appendix.html */
const LOCK_NOT_AVAILABLE = '55P03';
const WRONG_PASSWORD = '28P01';
/** The service is stopped, started, crashed or out of connections. */
const PASSING = new Set(['57P01', '57P02', '57P03', '53300']);

/** Who supervises an embedded database: the service, or a command that found it stopped. */
export type Supervisor = 'service' | 'command';

/** Another process supervises the embedded database of this DATA_DIR. */
export class DataDirInUseError extends Error {
  constructor(
    dataDir: string,
    readonly holder: Supervisor,
    /** Where the database runs. */
    readonly url: string,
  ) {
    super(`DATA_DIR ${dataDir} is in use by another running ${holder}`);
  }
}

/** A connection whose advisory lock makes this process the only supervisor of the cluster. */
export interface SupervisorSession extends Server {
  readonly client: pg.Client;
  /** Fulfilled when the connection is gone, and the lock with it. */
  readonly lost: Promise<void>;
}

/**
 * Connects to a server, proves by the password that it is the cluster's own, and takes the supervisor's lock.
 * @returns undefined if the server is ending, or not PostgreSQL
 * @throws DataDirInUseError if another process holds the lock
 */
export async function openSession(
  server: Server,
  cluster: Cluster,
  passwords: Passwords,
  supervisor: Supervisor,
): Promise<SupervisorSession | undefined> {
  const client = new pg.Client({
    connectionString: `postgresql://${SUPERUSER}:${passwords.superuser}@127.0.0.1:${server.port}/postgres`,
    application_name: `bakery ${supervisor}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  const lost = new Promise<void>((resolve) => {
    client.once('end', resolve);
    client.on('error', () => {
      resolve();
    });
  });
  try {
    await client.connect();
    const holder = await takeLock(client);
    if (holder === undefined) return { ...server, client, lost };
    throw new DataDirInUseError(cluster.dataDir, holder, databaseUrl(server.port, passwords));
  } catch (error) {
    await close(client);
    if (error instanceof DataDirInUseError) throw error;
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code === WRONG_PASSWORD) {
      throw new Error(`the password that DATA_DIR ${cluster.dataDir} keeps is not the one of its database`, {
        cause: error,
      });
    }
    if (code !== undefined && !PASSING.has(code)) throw error;
    return undefined; // refused, reset or timed out: no server of PostgreSQL is there
  }
}

/** @returns who else has the lock */
async function takeLock(client: pg.Client): Promise<Supervisor | undefined> {
  await client.query(`SET lock_timeout = ${LOCK_PATIENCE_MS}`);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [SUPERVISOR_LOCK]);
    return undefined;
  } catch (error) {
    if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
    const { rows } = await client.query(
      `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND objid = $1 AND granted AND application_name = 'bakery command'`,
      [SUPERVISOR_LOCK],
    );
    return rows.length > 0 ? 'command' : 'service';
  }
}

/** Ends a connection that may already be broken. */
export async function close(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/**
 * Makes the database `bakery` and its owner unless they exist. The service connects as the owner, who is no superuser:
 * a hole in its SQL opens neither the server's files nor its programs.
 */
export async function ensureDatabase(client: pg.Client, passwords: Passwords): Promise<void> {
  const { rows } = await client.query<{ owner: boolean; database: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = '${OWNER}') AS owner,
            EXISTS (SELECT FROM pg_database WHERE datname = '${DATABASE}') AS database`,
  );
  if (rows[0]?.owner !== true) {
    await client.query(`CREATE ROLE ${OWNER} LOGIN CREATEDB PASSWORD '${passwords.owner}'`);
  }
  if (rows[0]?.database !== true) await client.query(`CREATE DATABASE ${DATABASE} OWNER ${OWNER}`);
}

/** The service's own connection string. */
export function databaseUrl(port: number, passwords: Passwords): string {
  return `postgresql://${OWNER}:${passwords.owner}@127.0.0.1:${port}/${DATABASE}`;
}
