import { join } from 'node:path';
import pg from 'pg';
import { errorCode, errorMessage } from '../../common/errors/error-info.js';
import { withClient, withLock } from '../../database/with-client.js';
import type { UnpackedBackup } from './archive.js';
import { restoreBackup } from './restore.js';
import type { Summary } from './write-to-database.js';

/** https://www.postgresql.org/docs/18/errcodes-appendix.html */
const INSUFFICIENT_PRIVILEGE = '42501';
const MAY_NOT_CREATE = 'the user of DATABASE_URL may not create databases; ALTER ROLE ... CREATEDB allows it';

const CHECK_LOCK = 7_225_002;
const SUFFIX = '_restore_check';
/** Longest name of a database. PostgreSQL truncates longer names. */
const MAX_NAME_BYTES = 63;

/**
 * Restores a backup into a new database on the server of `databaseUrl`, and its images into the folder of the unpacked backup.
 * Then drops the database.
 */
export function checkBackup(databaseUrl: string, backup: UnpackedBackup): Promise<Summary> {
  const url = new URL(databaseUrl);
  // Like pg, `decodeURI` keeps `%2F` and `%3F`.
  const database = nameCheckDatabase(decodeURI(url.pathname.slice(1)));
  url.pathname = encodeURI(database);
  const identifier = pg.escapeIdentifier(database);
  const execute = (statement: string) => withClient(databaseUrl, (client) => client.query(statement));
  // FORCE, because the server may still run a statement of a check that was killed.
  const drop = () => execute(`DROP DATABASE IF EXISTS ${identifier} WITH (FORCE)`);
  const fail = () => {
    throw new Error('the backup cannot be checked: another check is running');
  };
  // The lock lasts until the end of the check, so that no other check drops the database before the restore has connected to it.
  return withLock(databaseUrl, CHECK_LOCK, fail, async () => {
    try {
      // An interrupted check leaves the database behind.
      await drop();
      // Not template1, to which a monitor may be connected: PostgreSQL would then reject the statement.
      await execute(`CREATE DATABASE ${identifier} TEMPLATE template0`).catch((error: unknown) => {
        if (errorCode(error) === INSUFFICIENT_PRIVILEGE) throw new Error(MAY_NOT_CREATE, { cause: error });
        throw error;
      });
    } catch (error) {
      throw new Error(`the backup cannot be checked: ${errorMessage(error)}`, { cause: error });
    }
    try {
      return await restoreBackup(url.href, join(backup.folder, 'restored'), backup);
    } finally {
      // A backup that was restored counts as checked. The next check drops the database.
      await drop().catch((error: unknown) => {
        console.error(
          `the database ${identifier} could not be dropped; the next check drops it: ${errorMessage(error)}`,
        );
      });
    }
  });
}

/** Adds the suffix. Shortens a long name, because PostgreSQL would otherwise truncate the suffix. */
function nameCheckDatabase(database: string): string {
  const bytes = Buffer.from(database).subarray(0, MAX_NAME_BYTES - SUFFIX.length);
  return new TextDecoder().decode(bytes, { stream: true }) + SUFFIX; // `stream` leaves out half a character at the end.
}
