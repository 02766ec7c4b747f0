import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { SUPERUSER, type Passwords } from './cluster.js';
import { parsePidFile, type PidFile } from './postmaster.js';

const DATABASE = 'bakery';
const OWNER = 'bakery';
/** Known to this file alone: advisory locks are counted per database, and no application uses `postgres`. */
const SUPERVISOR_LOCK = 0x62616b;
const CONNECT_TIMEOUT_MS = 2_000;
/** The server sees within milliseconds that the process of the former holder ended; that much is waited for. */
const LOCK_PATIENCE_MS = 500;
const SCRAM_ITERATIONS = 4_096;

/** The `SQLSTATE`s and socket failures of a server that starts, stops, crashes or is just full. */
const NOT_NOW = new Set(['57P01', '57P02', '57P03', '53300']);

/** A connection whose advisory lock makes this process the only supervisor of the cluster. */
export interface SupervisorSession {
  client: pg.Client;
  /** Process number of the server. */
  pid: number;
  port: number;
  /** The `bakery.plan` that the server was started with. */
  plan: string;
  /** Fulfilled when the connection, and the lock with it, is gone for whatever reason. */
  lost: Promise<void>;
}

/** Another running service supervises this cluster. */
export class DataDirInUseError extends Error {
  constructor(dataDir: string) {
    super(`DATA_DIR ${dataDir} is in use by another running service`);
  }
}

/**
 * Connects to the server that `claim` names, proves that it is the cluster's own (it knows the password and
 * reads the same `postmaster.pid`) and takes the supervisor's lock.
 * @returns undefined if there is no such server (yet, or any more)
 * @throws DataDirInUseError if another process holds the lock
 */
export async function openSession(
  claim: PidFile,
  passwords: Passwords,
  dataDir: string,
): Promise<SupervisorSession | undefined> {
  if (claim.pid === undefined || claim.port === undefined) return undefined;
  const client = new pg.Client({
    host: '127.0.0.1',
    port: claim.port,
    user: SUPERUSER,
    password: passwords.superuser,
    database: 'postgres',
    ssl: false,
    application_name: 'bakery supervisor',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  const lost = new Promise<void>((resolve) => {
    client.once('end', resolve);
    client.once('error', () => {
      resolve();
    });
  });
  client.on('error', () => {
    // `lost` tells; without a listener Node would end the process.
  });
  let session: SupervisorSession | undefined;
  try {
    await client.connect();
    const { rows } = await client.query<{ claim: string; plan: string }>(
      `select pg_read_file('postmaster.pid') as claim, coalesce(current_setting('bakery.plan', true), '') as plan`,
    );
    const seen = parsePidFile(rows[0]?.claim ?? '');
    if (seen.pid !== claim.pid || seen.port !== claim.port) return undefined;
    await takeLock(client, dataDir);
    session = { client, pid: claim.pid, port: claim.port, plan: rows[0]?.plan ?? '', lost };
    return session;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '28P01') {
      throw new Error(`the password that DATA_DIR ${dataDir} keeps is not the one of its database`, {
        cause: error,
      });
    }
    if (error instanceof DataDirInUseError) throw error;
    if (error instanceof pg.DatabaseError && !NOT_NOW.has(error.code ?? '')) throw error;
    return undefined; // refused, reset, timed out: nobody there, or no server of PostgreSQL
  } finally {
    if (!session) await close(client);
  }
}

async function takeLock(client: pg.Client, dataDir: string): Promise<void> {
  const deadline = Date.now() + LOCK_PATIENCE_MS;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      SUPERVISOR_LOCK,
    ]);
    if (rows[0]?.taken) return;
    if (Date.now() > deadline) throw new DataDirInUseError(dataDir);
    await delay(50);
  }
}

/** Ends a connection that may already be broken. */
export async function close(client: pg.Client): Promise<void> {
  try {
    await client.end();
  } catch {
    // It was broken before: there is nothing left to end.
  }
}

/**
 * Makes the database `bakery` and its owner unless they exist. The service connects as the owner, no
 * superuser, so that a hole in its SQL opens neither the server's files nor its programs.
 */
export async function ensureDatabase(client: pg.Client, passwords: Passwords): Promise<void> {
  const { rows } = await client.query<{ owner: boolean; database: boolean }>(
    `select exists (select from pg_roles where rolname = '${OWNER}') as owner,
            exists (select from pg_database where datname = '${DATABASE}') as database`,
  );
  if (!rows[0]?.owner) {
    await client.query(`create role ${OWNER} login createdb password '${scramVerifier(passwords.owner)}'`);
  }
  if (!rows[0]?.database) await client.query(`create database ${DATABASE} owner ${OWNER}`);
}

/** The service's own connection string. */
export function databaseUrl(port: number, passwords: Passwords): string {
  return `postgresql://${OWNER}:${passwords.owner}@127.0.0.1:${port}/${DATABASE}`;
}

/** What PostgreSQL stores of a password (RFC 5803), so that no statement, and no log, ever holds it. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, 32, 'sha256');
  const keyed = (label: string): Buffer => createHmac('sha256', salted).update(label).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
