import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { errorMessage } from '../../common/errors/error-info.js';
import { flushToDisk } from '../../common/files.js';
import { toLocalPath } from '../../images/local.image-host.js';
import { processWithProgress } from '../process-with-progress.js';
import type { UnpackedBackup } from './archive.js';
import type { Manifest, Table } from './manifest.js';
import { assertNoRows, listForeignKeys, listTables } from './tables.js';

/** Number of tables, rows and images in a backup, and the size of its file in bytes. */
export type BackupSummary = Readonly<Record<'tables' | 'rows' | 'images' | 'size', number>>;

/**
 * Writes a backup into an empty database that has the schema of the backup. The caller commits after the images are copied: if a
 * copy fails, nothing is committed.
 */
export async function writeToDatabase(
  client: pg.Client,
  backup: UnpackedBackup,
  imageFolder: string,
): Promise<BackupSummary> {
  const { tables, sequences, checksums } = backup.manifest;
  assertSameTables(await listTables(client), tables);
  await client.query(`LOCK TABLE ${tables.map(({ name }) => name).join(', ')}`);
  await assertNoRows(client);
  const rows = await writeRows(client, tables, join(backup.folder, 'tables'));
  await writeSequences(client, sequences);
  const images = Object.keys(checksums).filter((path) => path.startsWith('images/'));
  await copyImages(
    images.map((path) => join(backup.folder, path)),
    imageFolder,
  );
  return { tables: tables.length, rows, images: images.length, size: backup.size };
}

/**
 * Throws Error unless the backup has exactly the tables and columns of this database, so that the names in the backup are safe
 * in SQL text. Ignores the order of columns: a column comes last if its migration was reverted and applied again.
 */
function assertSameTables(existing: readonly Table[], expected: readonly Table[]): void {
  const describe = (list: readonly Table[]) =>
    JSON.stringify(list.map(({ name, columns }) => JSON.stringify([name, ...columns.toSorted()])).sort());
  if (describe(existing) !== describe(expected))
    throw new Error(
      'the backup cannot be restored: its tables are not those that its migrations create. Either the backup was ' +
        'changed, or the schema public of the database from which it was made contained another table',
    );
}

async function writeRows(client: pg.Client, tables: readonly Table[], folder: string): Promise<number> {
  // Drop the foreign keys, because a table may be written before the tables that it references.
  const foreignKeys = await listForeignKeys(client);
  for (const { table, name } of foreignKeys)
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  let rows = 0;
  for (const { name, columns } of tables) {
    const target = client.query(copyFrom(`COPY ${name} (${columns.join(', ')}) FROM STDIN`));
    await pipeline(createReadStream(join(folder, name)), target).catch((error: unknown) => {
      throw new Error(`the rows of ${name} cannot be written: ${errorMessage(error)}`, { cause: error });
    });
    rows += target.rowCount;
  }
  for (const { table, name, definition } of foreignKeys)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  return rows;
}

async function writeSequences(client: pg.Client, values: Manifest['sequences']): Promise<void> {
  for (const [name, value] of Object.entries(values))
    // Keep the sequence of the table `migrations`, which has the rows of this database. A sequence without a value was never used.
    if (value !== null && name !== 'public.migrations_id_seq')
      await client.query('SELECT setval($1, $2)', [name, value]);
}

/** Copies images into the folder of the local image host, and flushes them to the disk. */
async function copyImages(files: readonly string[], imageFolder: string): Promise<void> {
  const folders = new Set([dirname(imageFolder), imageFolder]);
  await mkdir(imageFolder, { recursive: true });
  await processWithProgress(files, 'images', async (file) => {
    const name = basename(file);
    const target = join(imageFolder, toLocalPath(name));
    const temporary = `${target}.restore`;
    await mkdir(dirname(target), { recursive: true });
    folders.add(dirname(target));
    // Not `copyFile`, which would also copy the mode from the archive.
    await pipeline(createReadStream(file), createWriteStream(temporary, { flush: true }));
    // Replaces a file of this name: the name is the random id of the image, so the file is the same image.
    await rename(temporary, target);
  });
  for (const folder of folders) await flushToDisk(folder);
}
