import { createWriteStream } from 'node:fs';
import { chmod, constants, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { to as copyTo } from 'pg-copy-streams';
import { errorCode } from '../../config/files.js';
import { IMAGE_FILE, pack } from './archive.js';
import { withClient } from '../with-client.js';
import { sequencesOf, tablesOf } from './tables.js';

/**
 * Writes all rows of one moment and the local images that products have into the new file. The service may go on
 * meanwhile. The file gets its name once it is complete and on the disk.
 * @returns the size of the file in bytes
 * @throws Error if the file exists, or with what failed; nothing is left then
 */
export async function createBackup(databaseUrl: string, dataDir: string, target: string): Promise<number> {
  const file = resolve(target);
  if (await stat(file).catch(() => undefined)) throw new Error(`${file} exists: name a file that does not`);
  const work = `${file}.partial`;
  try {
    await mkdir(work, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    const reason = 'another backup is being written, or one was interrupted; then remove it';
    throw new Error(`${work} exists: ${reason}`, { cause: error });
  }
  try {
    const content = join(work, 'content');
    await mkdir(content);
    const manifest = await readDatabase(databaseUrl, join(dataDir, 'images'), content);
    const packed = join(work, 'packed');
    await pack(content, packed, manifest);
    await chmod(packed, 0o600);
    await sync(packed);
    // Fails if another program has made a file of this name meanwhile.
    await (await open(file, 'wx')).close();
    await rename(packed, file);
    await sync(dirname(file));
    return (await stat(file)).size;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function readDatabase(databaseUrl: string, images: string, content: string) {
  return withClient(databaseUrl, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY id');
    const createdAt = new Date().toISOString();
    const attached = await client.query<{ id: string }>("SELECT id FROM images WHERE state = 'attached'");
    await copyImages(new Set(attached.rows.map(({ id }) => id)), images, join(content, 'images'));
    const tables = await tablesOf(client);
    await mkdir(join(content, 'tables'));
    for (const { name, columns } of tables) {
      const source = client.query(copyTo(`COPY ${name} (${columns.join(', ')}) TO STDOUT`));
      await pipeline(source, createWriteStream(join(content, 'tables', name)));
    }
    // Numbers given after that moment are no harm: they are only left out.
    const sequences = await sequencesOf(client);
    await client.query('COMMIT');
    return { createdAt, migrations: rows.map(({ name }) => name), tables, sequences };
  });
}

/** Copies the files of local images; first of all, because images that are removed meanwhile lose theirs. */
async function copyImages(ids: ReadonlySet<string>, from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const path of await readdir(from, { recursive: true }).catch(unlessMissing)) {
    if (!ids.has(IMAGE_FILE.exec(path)?.[1] ?? '')) continue;
    await mkdir(join(to, dirname(path)), { recursive: true });
    await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE).catch(unlessMissing);
  }
}

function unlessMissing(error: unknown): [] {
  if (errorCode(error) !== 'ENOENT') throw error;
  return [];
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
