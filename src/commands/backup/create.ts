import { createWriteStream } from 'node:fs';
import { chmod, constants, copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { errorCode } from '../../config/error-info.js';
import { warn } from '../command-line.js';
import { processInBatches, withProgress } from '../progress.js';
import { withClient } from '../with-client.js';
import { IMAGE_FILE, pack } from './archive.js';
import type { Summary } from './content.js';
import { listSequences, listTables } from './tables.js';

/**
 * Writes a snapshot of all rows and the local images of products into a new file, while the service may run. The file
 * gets its name when it is complete and on the disk.
 */
export async function createBackup(databaseUrl: string, dataDir: string, target: string): Promise<Summary> {
  const file = resolve(target);
  if (await stat(file).catch(() => undefined))
    throw new Error(`${file} exists: choose the name of a new file`);
  const work = `${file}.partial`;
  await mkdir(work, { mode: 0o700 }).catch((error: unknown) => {
    throw new Error(describeMkdirFailure(work, errorCode(error)), { cause: error });
  });
  try {
    const content = join(work, 'content');
    await mkdir(content);
    const { summary, ...manifest } = await readDatabase(databaseUrl, join(dataDir, 'images'), content);
    const packed = join(work, 'packed');
    warn(`packing ${summary.rows} rows and ${summary.images} images`);
    await pack(content, packed, manifest);
    await chmod(packed, 0o600);
    await sync(packed);
    // Fails if another program has created a file of this name meanwhile.
    await (await open(file, 'wx')).close();
    await rename(packed, file);
    await sync(dirname(file));
    return { ...summary, bytes: (await stat(file)).size };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function describeMkdirFailure(work: string, code = 'unknown error'): string {
  if (code === 'EEXIST')
    return `${work} exists: another backup is running or was interrupted. If none is running, remove the folder`;
  const folder = dirname(work);
  if (code === 'ENOENT') return `the folder ${folder} does not exist: create it first`;
  if (code === 'ENOTDIR') return `${folder} is not a folder`;
  return `the folder ${folder} cannot be written to (${code})`;
}

function readDatabase(databaseUrl: string, images: string, content: string) {
  return withClient(databaseUrl, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY id');
    const createdAt = new Date().toISOString();
    // Copy the images first. The snapshot still contains images that are removed from now on, and the service soon deletes
    // their files.
    const copied = await copyImages(client, images, join(content, 'images'));
    const tables = await listTables(client);
    const summary: Summary = { tables: 0, rows: 0, images: copied, bytes: 0 };
    await mkdir(join(content, 'tables'));
    const describe = () => `read ${summary.tables} of ${tables.length} tables, ${summary.rows} rows`;
    await withProgress(describe, async () => {
      for (const { name, columns } of tables) {
        const source = client.query(copyTo(`COPY ${name} (${columns.join(', ')}) TO STDOUT`));
        await pipeline(source, createWriteStream(join(content, 'tables', name)));
        summary.tables += 1;
        summary.rows += source.rowCount;
      }
    });
    // Sequences may be ahead of the snapshot: the restored database then skips some ids.
    const used = [...(await listSequences(client))].filter(([, value]) => value !== null);
    const sequences = Object.fromEntries(used) as Record<string, string>;
    await client.query('COMMIT');
    return { createdAt, migrations: rows.map(({ name }) => name), tables, sequences, summary };
  });
}

/** Copies the files of local images, unless the service removes them meanwhile. @returns their number */
async function copyImages(client: pg.Client, from: string, to: string): Promise<number> {
  const { rows } = await client.query<{ id: string; url: string }>(
    `SELECT id, url FROM images WHERE host = 'local' AND state = 'attached' ORDER BY id`,
  );
  await mkdir(to);
  let copied = 0;
  await processInBatches(rows, 'images', async ({ id, url }) => {
    const path = join(id.slice(0, 2), IMAGE_FILE.exec(url)?.[0] ?? `${id}.png`);
    await mkdir(join(to, dirname(path)), { recursive: true });
    try {
      await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
      copied += 1;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  });
  return copied;
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
