import { hash } from 'node:crypto';
import { join } from 'node:path';
import { errorCode, errorMessage } from '../../common/errors/error-info.js';
import { withClient } from '../../database/with-client.js';
import { restoreBackup } from './restore.js';
import type { Summary, UnpackedBackup } from './write-to-database.js';

/** By SQLSTATE: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const REASONS: Readonly<Record<string, string>> = {
  42501: 'the user of DATABASE_URL may not create databases; ALTER ROLE ... CREATEDB allows it',
  55006: 'another check is running', // object_in_use
};

/**
 * Restores a backup into a new database on the server of `databaseUrl`, and its images into the folder of the unpacked backup.
 * Then drops the database.
 */
export async function checkBackup(databaseUrl: string, backup: UnpackedBackup): Promise<Summary> {
  const url = new URL(databaseUrl);
  const database = `restore_check_${hash('sha256', url.pathname).slice(0, 16)}`;
  url.pathname = database;
  const execute = (statement: string) => withClient(databaseUrl, (client) => client.query(statement));
  const drop = () => execute(`DROP DATABASE IF EXISTS ${database}`);
  try {
    await drop(); // An interrupted check leaves the database behind.
    await execute(`CREATE DATABASE ${database}`);
  } catch (error) {
    const reason = REASONS[errorCode(error) ?? ''] ?? errorMessage(error);
    throw new Error(`the backup cannot be checked: ${reason}`, { cause: error });
  }
  try {
    // As long as this connection is open, no other check can drop the database.
    return await withClient(url.href, () => restoreBackup(url.href, join(backup.folder, 'restored'), backup));
  } finally {
    await drop().catch((failure: unknown) => {
      console.error(`the database ${database} could not be dropped: ${errorMessage(failure)}`);
    });
  }
}
