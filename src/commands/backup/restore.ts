import { existsSync, mkdtempSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../common/errors/error-info.js';
import { createDataDir } from '../../common/files.js';
import { migrationNames, migrations } from '../../database/data-source.js';
import { connectAndReadMigrationStatus, migrate, revertLastMigration } from '../../database/migrate.js';
import { withClient, withTransaction } from '../../database/with-client.js';
import { unpack, type UnpackedBackup } from './archive.js';
import { ImageCopies } from './image-copies.js';
import { assertEmpty } from './tables.js';
import { withTemporaryFolder } from './temporary-folder.js';
import { type Summary, writeToDatabase } from './write-to-database.js';

/** Unpacks a backup into a new folder in DATA_DIR, verifies the backup, calls `use`, and removes the folder. */
export async function withUnpacked<T>(
  file: string,
  dataDir: string,
  use: (backup: UnpackedBackup) => Promise<T>,
): Promise<T> {
  const isNewDataDir = !existsSync(dataDir);
  createDataDir(dataDir);
  try {
    const createFolder = () => mkdtempSync(join(dataDir, 'restore-'));
    return await withTemporaryFolder(createFolder, async (folder) => {
      const backup = await unpack(file, folder);
      const unknown = backup.manifest.migrations.filter((name) => !migrationNames.includes(name));
      if (unknown.length > 0)
        throw new Error(`${file} was made by a newer build: this one does not know ${unknown.join(', ')}`);
      return await use(backup);
    });
  } finally {
    // If the restore has stored images or a database in DATA_DIR, `rmdir` fails and DATA_DIR stays.
    if (isNewDataDir) await rmdir(dataDir).catch(() => undefined);
  }
}

/**
 * Writes a backup into an empty database, and its images into DATA_DIR. A backup of an earlier schema is restored into that
 * schema, and the last step migrates the database. An error before that step leaves database and images as they were, unless
 * the result of the commit is unknown.
 */
export async function restoreBackup(
  databaseUrl: string,
  dataDir: string,
  backup: UnpackedBackup,
): Promise<Summary> {
  await withClient(databaseUrl, assertEmpty);
  const countBefore = await countAppliedMigrations(databaseUrl);
  const images = new ImageCopies(join(dataDir, 'images'));
  let summary: Summary;
  try {
    // The migrations of a backup are the first ones of this build, because every release appends its migrations.
    await setSchema(databaseUrl, backup.manifest.migrations.length);
    summary = await withTransaction(databaseUrl, async (client) => {
      const written = await writeToDatabase(client, backup, images);
      images.keep(); // The database may refer to the images from now on, even if the response to the COMMIT is lost.
      return written;
    });
  } catch (error) {
    if (images.areKept)
      await withClient(databaseUrl, assertEmpty).catch(() => {
        console.error('the database may contain the rows of the backup, so the images stay in DATA_DIR');
        throw error;
      });
    images.revert();
    await setSchema(databaseUrl, countBefore).catch((failure: unknown) => {
      console.error(`the former schema could not be restored: ${errorMessage(failure)}`);
    });
    throw error;
  }
  await migrate(databaseUrl, console.error);
  return summary;
}

/**
 * Changes the schema of an empty database, so that exactly the first `count` migrations are applied. Also creates the job
 * queue, unless `count` is 0.
 */
async function setSchema(databaseUrl: string, count: number): Promise<void> {
  while ((await countAppliedMigrations(databaseUrl)) > count) {
    await withClient(databaseUrl, assertEmpty); // A revert would delete rows that another process has written meanwhile.
    await revertLastMigration(databaseUrl, console.error);
  }
  if (count > 0) return migrate(databaseUrl, console.error, migrations.slice(0, count));
  // No migration drops the table `migrations` and the schema of the job queue.
  await withClient(databaseUrl, (client) =>
    client.query('DROP TABLE IF EXISTS migrations; DROP SCHEMA IF EXISTS graphile_worker CASCADE'),
  );
}

async function countAppliedMigrations(databaseUrl: string): Promise<number> {
  return (await connectAndReadMigrationStatus(databaseUrl)).applied.length;
}
