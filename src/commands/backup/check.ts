import { join } from 'node:path';
import { errorCode, errorMessage } from '../../common/errors/error-info.js';
import { withClient } from '../../database/with-client.js';
import type { Summary, UnpackedBackup } from './content.js';
import { restoreBackup } from './restore.js';

/** https://www.postgresql.org/docs/18/errcodes-appendix.html */
const INSUFFICIENT_PRIVILEGE = '42501';
const OBJECT_IN_USE = '55006';

/**
 * Restores a backup into a new database on the same server, and its images into the folder of the unpacked backup. Then drops
 * the database.
 * @param databaseUrl URL of any database on the server. Its user needs the right to create databases
 */
export async function checkBackup(databaseUrl: string, backup: UnpackedBackup): Promise<Summary> {
  const url = new URL(databaseUrl);
  url.pathname += '_restore_check';
  const name = `"${decodeURIComponent(url.pathname.slice(1)).replaceAll('"', '""')}"`;
  const execute = (statement: string) => withClient(databaseUrl, (client) => client.query(statement));
  try {
    await execute(`DROP DATABASE IF EXISTS ${name}`); // An interrupted check leaves the database behind.
    await execute(`CREATE DATABASE ${name}`);
  } catch (error) {
    throw new Error(`the backup cannot be checked: ${describeFailure(error)}`, { cause: error });
  }
  try {
    return await restoreBackup(url.href, join(backup.folder, 'restored'), backup);
  } finally {
    await execute(`DROP DATABASE IF EXISTS ${name}`);
  }
}

function describeFailure(error: unknown): string {
  if (errorCode(error) === INSUFFICIENT_PRIVILEGE)
    return 'the user of DATABASE_URL may not create databases; ALTER ROLE ... CREATEDB allows it';
  if (errorCode(error) === OBJECT_IN_USE) return 'another check is running';
  return errorMessage(error);
}
