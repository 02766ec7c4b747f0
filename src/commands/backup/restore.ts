import { existsSync } from 'node:fs';
import { mkdtemp, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { migrations } from '../../database/data-source.js';
import { createDataDir } from '../../common/files.js';
import { migrate, connectAndReadMigrationStatus, revertLastMigration } from '../../database/migrate.js';
import { withClient } from '../../database/with-client.js';
import { withTemporaryFolder } from '../temporary-folder.js';
import { unpack } from './archive.js';
import { type Summary, type UnpackedBackup, writeToDatabase } from './write-to-database.js';
import { ImageCopies } from './image-copies.js';
import { assertEmpty } from './tables.js';

/** Unpacks a backup into a new folder in DATA_DIR, verifies the backup, calls `use`, and removes the folder. */
export async function withUnpacked<T>(
  file: string,
  dataDir: string,
  use: (backup: UnpackedBackup) => Promise<T>,
): Promise<T> {
  const isNewDataDir = !existsSync(dataDir);
  createDataDir(dataDir);
  const folder = await mkdtemp(join(dataDir, 'restore-'));
  try {
    return await withTemporaryFolder(folder, async () => {
      const manifest = await unpack(file, folder);
      const known = migrations.map((Migration) => new Migration().name);
      const unknown = manifest.migrations.filter((name) => !known.includes(name));
      if (unknown.length > 0)
        throw new Error(`${file} was made by a newer build: this one does not know ${unknown.join(', ')}`);
      return await use({ folder, manifest, bytes: (await stat(file)).size });
    });
  } finally {
    // If the restore has stored images or a database in DATA_DIR, `rmdir` fails and DATA_DIR stays.
    if (isNewDataDir) await rmdir(dataDir).catch(() => undefined);
  }
}

/**
 * Writes a backup into an empty database, and its images into DATA_DIR. A backup of an earlier schema is restored into that
 * schema, and the last step migrates the database. An error before that step leaves no row and no image behind, unless the
 * result of the commit is unknown.
 */
export async function restoreBackup(
  databaseUrl: string,
  dataDir: string,
  backup: UnpackedBackup,
): Promise<Summary> {
  await withClient(databaseUrl, assertEmpty);
  await migrate(databaseUrl, console.error);
  await revertTo(databaseUrl, backup.manifest.migrations.length);
  const images = new ImageCopies(join(dataDir, 'images'));
  let summary: Summary;
  try {
    summary = await withClient(databaseUrl, (client) => writeToDatabase(client, backup, images));
  } catch (error) {
    // The COMMIT may have succeeded although its response was lost.
    const isEmpty = await withClient(databaseUrl, assertEmpty).then(
      () => true,
      () => false,
    );
    if (isEmpty) await images.revert();
    else console.error('the database may contain the rows of the backup, so the images stay in DATA_DIR');
    throw error;
  }
  await migrate(databaseUrl, console.error);
  return summary;
}

/** Reverts the migrations after the first `count` ones in an empty database. TypeORM cannot stop at a migration. */
async function revertTo(databaseUrl: string, count: number): Promise<void> {
  while ((await connectAndReadMigrationStatus(databaseUrl)).applied.length > count) {
    await withClient(databaseUrl, assertEmpty); // A revert would delete rows that another process has written meanwhile.
    await revertLastMigration(databaseUrl, console.error);
  }
}
