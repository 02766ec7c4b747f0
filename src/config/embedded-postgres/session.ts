import { createHmac } from 'node:crypto';
import pg from 'pg';
import type { Cluster } from './cluster.js';

/** Names the database and its owner. */
const NAME = 'bakery';
/** Advisory locks are counted per database, and nothing else uses the database `postgres`. */
const SUPERVISOR_LOCK = 0x62616b;
/** https://www.postgresql.org/docs/18/errcodes-appendix.html */
const LOCK_NOT_AVAILABLE = '55P03';
const WRONG_PASSWORD = '28P01';
/** Insufficient resources, operator intervention: out of connections, or starting, ending, restarting. */
const PASSING = /^(53|57)/;

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
export interface Session {
  readonly client: pg.Client;
  /** Fulfilled when the connection is gone, and the lock with it. */
  readonly lost: Promise<void>;
}

/**
 * Connects to a server, proves by the password that it is the cluster's own, and takes the supervisor's lock.
 * @returns undefined if the server is starting or ending, or not PostgreSQL
 * @throws DataDirInUseError if another process holds the lock
 */
export async function openSession(
  port: number,
  { dataDir, secret }: Cluster,
  supervisor: Supervisor,
): Promise<Session | undefined> {
  const client = new pg.Client({
    connectionString: `postgresql://postgres:${secret}@127.0.0.1:${port}/postgres`,
    application_name: `bakery ${supervisor}`,
    connectionTimeoutMillis: 2_000,
    lock_timeout: 500, // the server notices within milliseconds that the process of a former holder ended
  });
  client.on('error', () => {
    // `end` follows.
  });
  const lost = new Promise<void>((resolve) => client.once('end', resolve));
  try {
    await client.connect();
    await client.query('SELECT pg_advisory_lock($1)', [SUPERVISOR_LOCK]);
    return { client, lost };
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    const holder = code === LOCK_NOT_AVAILABLE ? await lockHolder(client) : undefined;
    await client.end();
    if (holder) throw new DataDirInUseError(dataDir, holder, databaseUrl(port, secret));
    if (code === WRONG_PASSWORD) {
      throw new Error(`the password that DATA_DIR ${dataDir} keeps is not the one of its database`, {
        cause: error,
      });
    }
    if (code !== undefined && !PASSING.test(code)) throw error;
    return undefined; // refused, reset or timed out: no server of PostgreSQL is there
  }
}

async function lockHolder(client: pg.Client): Promise<Supervisor> {
  const { rows } = await client.query(
    `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND objid = $1 AND granted AND application_name = 'bakery command'`,
    [SUPERVISOR_LOCK],
  );
  return rows.length > 0 ? 'command' : 'service';
}

/**
 * Makes the database and its owner unless they exist. The service connects as the owner, who is no superuser: a hole in
 * its SQL opens neither the server's files nor its programs.
 */
export async function ensureDatabase(client: pg.Client, secret: string): Promise<void> {
  const { rows } = await client.query<{ owner: boolean; database: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = '${NAME}') AS owner,
            EXISTS (SELECT FROM pg_database WHERE datname = '${NAME}') AS database`,
  );
  if (rows[0]?.owner !== true) {
    await client.query(`CREATE ROLE ${NAME} LOGIN CREATEDB PASSWORD '${ownerPassword(secret)}'`);
  }
  if (rows[0]?.database !== true) await client.query(`CREATE DATABASE ${NAME} OWNER ${NAME}`);
}

/** The service's own connection string. */
export function databaseUrl(port: number, secret: string): string {
  return `postgresql://${NAME}:${ownerPassword(secret)}@127.0.0.1:${port}/${NAME}`;
}

/** Made of the superuser's, so that DATA_DIR keeps one secret. */
function ownerPassword(secret: string): string {
  return createHmac('sha256', secret).update(NAME).digest('base64url');
}
