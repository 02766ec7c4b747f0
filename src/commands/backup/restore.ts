import { mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { migrations } from '../../config/data-source.js';
import { createDataDir } from '../../config/files.js';
import { migrate } from '../../config/migrate.js';
import { warn } from '../command-line.js';
import { withClient } from '../with-client.js';
import { unpack } from './archive.js';
import { type Summary, type UnpackedBackup, writeContent } from './content.js';
import { ImageCopies } from './image-copies.js';
import { withSchemaOf } from './schema.js';
import { assertEmpty } from './tables.js';

/** Unpacks and verifies a backup below DATA_DIR, calls `use`, and removes the unpacked files. */
export async function withUnpacked<T>(
  file: string,
  dataDir: string,
  use: (backup: UnpackedBackup) => Promise<T>,
): Promise<T> {
  const isNew = (await stat(dataDir).catch(() => undefined)) === undefined;
  createDataDir(dataDir);
  const folder = await mkdtemp(join(dataDir, 'restore-'));
  try {
    const manifest = await unpack(file, folder);
    const known = migrations.map((Migration) => new Migration().name as string);
    const unknown = manifest.migrations.filter((name) => !known.includes(name));
    if (unknown.length > 0)
      throw new Error(`${file} was made by a newer build: this one does not know ${unknown.join(', ')}`);
    if (known.slice(0, manifest.migrations.length).some((name) => !manifest.migrations.includes(name)))
      throw new Error(`${file} was changed: a migration that others depend on is missing`);
    return await use({ folder, manifest, bytes: (await stat(file)).size });
  } finally {
    await rm(folder, { recursive: true, force: true });
    // Fails if the restore has created files in it.
    if (isNew) await rmdir(dataDir).catch(() => undefined);
  }
}

/**
 * Writes a backup into an empty database, and its images into DATA_DIR. A backup of an earlier schema is restored into
 * that schema, which is then migrated. After an error, database and images are unchanged.
 */
export async function restoreBackup(
  databaseUrl: string,
  dataDir: string,
  backup: UnpackedBackup,
): Promise<Summary> {
  await withClient(databaseUrl, assertEmpty);
  const images = new ImageCopies(join(dataDir, 'images'));
  const summary = await withSchemaOf(databaseUrl, backup.manifest.migrations, () =>
    withClient(databaseUrl, async (client) => {
      try {
        return await writeContent(client, backup, images);
      } catch (error) {
        await images.remove();
        throw error;
      }
    }),
  );
  await migrate(databaseUrl, warn);
  return summary;
}
