import { createWriteStream } from 'node:fs';
import { constants, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { errorCode } from '../../config/embedded-postgres/files.js';
import { pack } from './archive.js';
import { sequencesOf, tablesOf, withClient } from './tables.js';

export interface BackupSummary {
  /** Size of the file. */
  readonly bytes: number;
  /** Ids of local images that products have and whose files are not there. */
  readonly missingImages: readonly string[];
}

/**
 * Writes all rows of one moment and the local images that products have into the new file. The service may go on
 * meanwhile. The file gets its name once it is complete and on the disk.
 * @throws Error if the file exists, or with what failed; nothing is left then
 */
export async function createBackup(
  databaseUrl: string,
  dataDir: string,
  target: string,
): Promise<BackupSummary> {
  const file = resolve(target);
  const work = `${file}.partial`;
  await refuseExisting(file);
  try {
    await mkdir(work, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new Error(
      `${work} exists: another backup is being written, or one was interrupted; then remove it`,
      {
        cause: error,
      },
    );
  }
  try {
    const content = join(work, 'content');
    await mkdir(content);
    const manifest = await readDatabase(databaseUrl, join(dataDir, 'images'), content);
    const packed = join(work, 'packed');
    await (await open(packed, 'wx', 0o600)).close();
    await pack(content, packed, manifest);
    await sync(packed);
    await refuseExisting(file);
    await rename(packed, file);
    await sync(dirname(file));
    return { bytes: (await stat(file)).size, missingImages: manifest.missingImages };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function refuseExisting(file: string): Promise<void> {
  if (await stat(file).catch(() => undefined)) throw new Error(`${file} exists: name a file that does not`);
}

function readDatabase(databaseUrl: string, images: string, content: string) {
  return withClient(databaseUrl, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY id');
    const createdAt = new Date().toISOString();
    const missingImages = await copyImages(client, images, join(content, 'images'));
    const tables = await tablesOf(client);
    await mkdir(join(content, 'tables'));
    for (const { name, columns } of tables) {
      const source = client.query(copyTo(`COPY ${name} (${columns.join(', ')}) TO STDOUT`));
      await pipeline(source, createWriteStream(join(content, 'tables', name)));
    }
    // Numbers given after that moment are no harm: they are only left out.
    const sequences = await sequencesOf(client);
    await client.query('COMMIT');
    return { createdAt, migrations: rows.map(({ name }) => name), tables, sequences, missingImages };
  });
}

/**
 * Copies the files of the local images that products have. First of all: the file of an image that is removed after
 * the moment of the backup may vanish at any time.
 * @returns the ids of those whose files are not there
 */
async function copyImages(client: pg.Client, from: string, to: string): Promise<string[]> {
  await mkdir(to);
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM images WHERE host = 'local' AND state = 'attached'`,
  );
  const missing = new Set(rows.map(({ id }) => id));
  for (const path of await readdir(from, { recursive: true }).catch(() => [])) {
    const id = /([0-9a-f-]{36})\.(png|jpg)$/.exec(path)?.[1];
    if (id === undefined || !missing.has(id)) continue;
    await mkdir(join(to, dirname(path)), { recursive: true });
    const isThere = await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE).then(
      () => true,
      (error: unknown) => {
        if (errorCode(error) === 'ENOENT') return false;
        throw error;
      },
    );
    if (isThere) missing.delete(id);
  }
  return [...missing];
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
