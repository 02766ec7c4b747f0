import { hash } from 'node:crypto';
import { join } from 'node:path';
import { errorMessage } from '../../common/errors/error-info.js';
import { withClient, withLock } from '../../database/with-client.js';
import type { UnpackedBackup } from './archive.js';
import { restoreBackup } from './restore.js';
import type { BackupSummary } from './write-to-database.js';

const CHECK_LOCK = 7_225_002;

/**
 * Restores a backup into a new database on the server of `databaseUrl`, and its images into the folder of the unpacked backup.
 * Then drops the database.
 */
export function checkBackup(databaseUrl: string, backup: UnpackedBackup): Promise<BackupSummary> {
  const url = new URL(databaseUrl);
  // A hash, because PostgreSQL truncates long names. Each database of the server has its own.
  const database = `restore_check_${hash('md5', url.pathname)}`;
  url.pathname = database;
  const execute = (statement: string) => withClient(databaseUrl, (client) => client.query(statement));
  // FORCE, because the server may still run a statement of a check that was killed.
  const drop = () => execute(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  const fail = () => {
    throw new Error('the backup cannot be checked: another check is running');
  };
  // The lock lasts until the end of the check, so that no other check drops the database before the restore has connected to it.
  return withLock(databaseUrl, CHECK_LOCK, fail, async () => {
    await drop(); // An interrupted check leaves the database behind.
    // Not template1, to which a monitor may be connected: PostgreSQL would then reject the statement.
    await execute(`CREATE DATABASE ${database} TEMPLATE template0`);
    try {
      return await restoreBackup(url.href, join(backup.folder, 'restored'), backup);
    } finally {
      // A backup that was restored counts as checked. The next check drops the database.
      await drop().catch((error: unknown) => {
        console.error(
          `the database ${database} could not be dropped; the next check drops it: ${errorMessage(error)}`,
        );
      });
    }
  });
}
