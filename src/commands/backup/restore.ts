import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../common/errors/error-info.js';
import { createDataDir } from '../../common/files.js';
import { migrationNames, migrations } from '../../database/data-source.js';
import { connectAndReadMigrationStatus, migrate, revertLastMigration } from '../../database/migrate.js';
import { withClient, withTransaction } from '../../database/with-client.js';
import { unpack, type UnpackedBackup } from './archive.js';
import { assertNoRows } from './tables.js';
import { withTemporaryFolder } from './temporary-folder.js';
import { type BackupSummary, writeToDatabase } from './write-to-database.js';

/** Unpacks a backup into a new folder in DATA_DIR, verifies the backup, calls `use`, and removes the folder. */
export async function withUnpacked<T>(
  file: string,
  dataDir: string,
  use: (backup: UnpackedBackup) => Promise<T>,
): Promise<T> {
  createDataDir(dataDir);
  const createFolder = () => mkdtempSync(join(dataDir, 'restore-'));
  return withTemporaryFolder(createFolder, async (folder) => {
    const backup = await unpack(file, folder);
    const unknown = backup.manifest.migrations.filter((name) => !migrationNames.includes(name));
    if (unknown.length > 0)
      throw new Error(`${file} was made by a newer build: this one does not know ${unknown.join(', ')}`);
    return use(backup);
  });
}

/**
 * Writes a backup into an empty database, and its images into DATA_DIR. A backup of an earlier schema is restored into that
 * schema, and the last step migrates the database. An error before that step leaves the database without rows. It may leave
 * tables and images, which the next restore replaces.
 */
export async function restoreBackup(
  databaseUrl: string,
  dataDir: string,
  backup: UnpackedBackup,
): Promise<BackupSummary> {
  await withClient(databaseUrl, assertNoRows);
  // The migrations of a backup are the first ones of this build, because every release appends its migrations.
  await setSchema(databaseUrl, backup.manifest.migrations.length);
  const summary = await withTransaction(databaseUrl, (client) =>
    writeToDatabase(client, backup, join(dataDir, 'images')),
  );
  await migrate(databaseUrl, console.error).catch((error: unknown) => {
    const reason = errorMessage(error);
    throw new Error(`all rows are restored, but not migrated; run npm run db -- migrate: ${reason}`);
  });
  return summary;
}

/** Changes the schema of an empty database, so that the job queue and exactly the first `count` migrations are applied. */
async function setSchema(databaseUrl: string, count: number): Promise<void> {
  while ((await connectAndReadMigrationStatus(databaseUrl)).applied.length > count) {
    await withClient(databaseUrl, assertNoRows); // A revert would delete rows that another process has written meanwhile.
    await revertLastMigration(databaseUrl, console.error);
  }
  await migrate(databaseUrl, console.error, migrations.slice(0, count));
}
