import { createHmac } from 'node:crypto';
import pg from 'pg';
import { errorCode } from '../../common/errors/error-info.js';
import type { Cluster } from './cluster.js';

const DATABASE_AND_OWNER = 'bakery';
/** Key of an advisory lock in the database `postgres`, where no other program takes locks. */
const SUPERVISOR_LOCK = 0x62616b;
/** https://www.postgresql.org/docs/18/errcodes-appendix.html */
const LOCK_NOT_AVAILABLE = '55P03';
const WRONG_PASSWORD = '28P01';

/** Kind of a process that uses the database. A command supervises an embedded database if the service does not run. */
export type ProcessKind = 'service' | 'command';

export class DataDirInUseError extends Error {
  constructor(
    dataDir: string,
    readonly holder: ProcessKind,
    readonly url: string, // connection string of the database `bakery`
  ) {
    super(`DATA_DIR ${dataDir} is in use by a running ${holder}`);
  }
}

/** A connection whose advisory lock makes this process the only supervisor of the cluster. */
export interface SupervisorConnection {
  readonly client: pg.Client;
  /** Resolves when the connection, and with it the lock, is lost. */
  readonly lost: Promise<void>;
}

/**
 * Connects to a server and takes the supervisor's lock. The password proves that the server belongs to the cluster.
 * @throws DataDirInUseError if another process has the lock
 */
export async function connectAsSupervisor(
  port: number,
  { dataDir, superuserPassword }: Cluster,
  processKind: ProcessKind,
): Promise<SupervisorConnection> {
  const client = new pg.Client({
    connectionString: `postgresql://postgres:${superuserPassword}@127.0.0.1:${port}/postgres`,
    application_name: `bakery ${processKind}`, // by which other processes recognize the holder of the lock
    connectionTimeoutMillis: 2_000,
    lock_timeout: 500, // PostgreSQL releases the lock within milliseconds after its holder ended
  });
  client.on('error', () => undefined); // The `end` event follows.
  const lost = new Promise<void>((resolve) => client.once('end', resolve));
  try {
    await client.connect();
    const otherHolder = await takeLockOrFindHolder(client);
    if (otherHolder === undefined) return { client, lost };
    throw new DataDirInUseError(dataDir, otherHolder, buildDatabaseUrl(port, superuserPassword));
  } catch (error) {
    await client.end();
    if (errorCode(error) !== WRONG_PASSWORD) throw error;
    throw new Error(`the password in DATA_DIR ${dataDir} is not the one of its database`, { cause: error });
  }
}

/**
 * Takes the supervisor's lock.
 * @returns undefined after success; otherwise the kind of process that has the lock
 */
async function takeLockOrFindHolder(client: pg.Client): Promise<ProcessKind | undefined> {
  for (;;) {
    try {
      await client.query('SELECT pg_advisory_lock($1)', [SUPERVISOR_LOCK]);
      return undefined;
    } catch (error) {
      if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
    }
    const { rows } = await client.query<{ application_name: string }>(
      `SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND objid = $1 AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [SUPERVISOR_LOCK],
    );
    // Without a row, the process that had the lock has ended in the meantime.
    if (rows[0] !== undefined) return rows[0].application_name === 'bakery command' ? 'command' : 'service';
  }
}

/**
 * Creates the database and its owner if they do not exist. The service connects as the owner, which is not a superuser:
 * an SQL injection cannot read the server's files or run programs. The owner may create databases, because a backup is
 * checked in a temporary database.
 */
export async function ensureDatabase(client: pg.Client, superuserPassword: string): Promise<void> {
  const role = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [DATABASE_AND_OWNER]);
  const database = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE_AND_OWNER]);
  if (role.rowCount === 0)
    await client.query(
      `CREATE ROLE ${DATABASE_AND_OWNER} LOGIN CREATEDB PASSWORD '${deriveOwnerPassword(superuserPassword)}'`,
    );
  if (database.rowCount === 0)
    await client.query(`CREATE DATABASE ${DATABASE_AND_OWNER} OWNER ${DATABASE_AND_OWNER}`);
}

export function buildDatabaseUrl(port: number, superuserPassword: string): string {
  return `postgresql://${DATABASE_AND_OWNER}:${deriveOwnerPassword(superuserPassword)}@127.0.0.1:${port}/${DATABASE_AND_OWNER}`;
}

/** Derives the owner's password from the superuser's, so that DATA_DIR contains only one secret. */
function deriveOwnerPassword(superuserPassword: string): string {
  return createHmac('sha256', superuserPassword).update(DATABASE_AND_OWNER).digest('base64url');
}
