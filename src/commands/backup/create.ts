import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { chmod, constants, copyFile, mkdir, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { PARTIAL } from '../../common/backup-files.js';
import { errorCode } from '../../common/errors/error-info.js';
import { flushToDisk } from '../../common/files.js';
import { connectAndReadMigrationStatus } from '../../database/migrate.js';
import { withTransaction } from '../../database/with-client.js';
import { toLocalPath } from '../../images/local.image-host.js';
import { processWithProgress } from '../process-with-progress.js';
import { pack } from './archive.js';
import { listSequences, listTables } from './tables.js';
import { withTemporaryFolder } from './temporary-folder.js';
import type { BackupSummary } from './write-to-database.js';

/**
 * Writes a snapshot of the database and the local images of products into a new file. The service may run meanwhile. The
 * file gets its content in one step, after all of it has been written to the disk.
 */
export async function createBackup(
  databaseUrl: string,
  dataDir: string,
  target: string,
): Promise<BackupSummary> {
  const file = resolve(target);
  await assertTables(databaseUrl);
  if (existsSync(file)) throw new Error(`${file} exists: choose the name of a new file`);
  const partial = `${file}${PARTIAL}`;
  if (existsSync(partial))
    throw new Error(
      `${partial} exists: another backup is running or was interrupted. If none is running, remove the folder`,
    );
  const createFolder = () => {
    mkdirSync(partial, { mode: 0o700 });
    return partial;
  };
  return withTemporaryFolder(createFolder, async (work) => {
    const content = join(work, 'content');
    const packed = join(work, 'packed');
    const { manifest, rows, images } = await exportDatabase(databaseUrl, join(dataDir, 'images'), content);
    console.error(`packing ${rows} rows and ${images} images`);
    const size = await pack(content, packed, manifest);
    await chmod(packed, 0o600);
    await flushToDisk(packed);
    await rename(packed, file);
    await flushToDisk(dirname(file));
    return { tables: manifest.tables.length, rows, images, size };
  });
}

/** @throws Error for a database without tables, for example one that was just created */
export async function assertTables(databaseUrl: string): Promise<void> {
  if ((await connectAndReadMigrationStatus(databaseUrl)).applied.length === 0)
    throw new Error('the database has no tables: there is nothing to back up');
}

/** Writes the rows of one snapshot and the images into the folder `content`. */
function exportDatabase(databaseUrl: string, imageFolder: string, content: string) {
  const exportSnapshot = async (client: pg.Client) => {
    const { rows: applied } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY id');
    const migrations = applied.map(({ name }) => name);
    const createdAt = new Date().toISOString();
    // Copy the images first. The snapshot still contains images that are removed from now on, and the service soon deletes
    // their files.
    const images = await copyImages(client, imageFolder, join(content, 'images'));
    const tables = await listTables(client);
    await mkdir(join(content, 'tables'), { recursive: true });
    let rows = 0;
    for (const { name, columns } of tables) {
      const source = client.query(copyTo(`COPY ${name} (${columns.join(', ')}) TO STDOUT`));
      await pipeline(source, createWriteStream(join(content, 'tables', name)));
      rows += source.rowCount;
    }
    // Sequences may be ahead of the snapshot: the restored database then skips some ids.
    const sequences = await listSequences(client);
    return { manifest: { createdAt, migrations, tables, sequences }, rows, images };
  };
  return withTransaction(databaseUrl, exportSnapshot, 'ISOLATION LEVEL REPEATABLE READ, READ ONLY');
}

/**
 * Copies the local images of products. Prints the number of images that have no file: the service has removed them meanwhile, or
 * DATA_DIR is wrong. Returns the number of copies.
 */
async function copyImages(client: pg.Client, from: string, to: string): Promise<number> {
  // The URL of a local image is its file name.
  const { rows } = await client.query<{ url: string }>(
    `SELECT url FROM images WHERE host = 'local' AND state = 'attached' ORDER BY id`,
  );
  let copied = 0;
  await processWithProgress(rows, 'images', async ({ url }) => {
    const path = toLocalPath(url);
    await mkdir(dirname(join(to, path)), { recursive: true });
    try {
      await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
      copied += 1;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  });
  const missing = rows.length - copied;
  if (missing > 0)
    console.error(`${missing} images have no file in ${from}: the backup does not contain them`);
  return copied;
}
