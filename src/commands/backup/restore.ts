import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { migrations } from '../../config/data-source.js';
import { migrate, migrationStatus, revertLastMigration } from '../../config/migrate.js';
import { withClient } from '../with-client.js';
import { IMAGE_FILE, type Manifest, unpack } from './archive.js';
import { foreignKeysOf, tablesOf } from './tables.js';

/**
 * Puts a backup into an empty database, and its images into DATA_DIR. The whole file is checked before anything is
 * written, and all rows are written in one transaction: after a failure the database is as empty as before. A backup
 * of an earlier schema is copied into that schema, which is then migrated.
 * @returns the moment of the backup, ISO 8601
 * @throws Error when the backup is damaged or of a newer build, or the database is not empty
 */
export async function restoreBackup(
  databaseUrl: string,
  dataDir: string,
  file: string,
  log: (line: string) => void,
): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const work = await mkdtemp(join(dataDir, 'restore-'));
  try {
    const manifest = await unpack(file, work);
    const known: readonly string[] = migrations.map((Migration) => new Migration().name);
    const unknown = manifest.migrations.filter((name) => !known.includes(name));
    if (unknown.length > 0) {
      throw new Error(`${file} was made by a newer build: this one does not know ${unknown.join(', ')}`);
    }
    await withClient(databaseUrl, refuseFilled);
    await setSchema(databaseUrl, manifest.migrations, log);
    await cp(join(work, 'images'), join(dataDir, 'images'), { recursive: true });
    const lost = await withClient(databaseUrl, (client) => writeRows(client, manifest, join(work, 'tables')));
    if (lost > 0) log(`${lost} images had no file at the backup: products lack them now`);
    await migrate(databaseUrl, log);
    return manifest.createdAt;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function refuseFilled(client: pg.Client): Promise<void> {
  for (const { name } of await tablesOf(client)) {
    const { rows } = await client.query(`SELECT FROM ${name} LIMIT 1`);
    if (rows.length === 0) continue;
    throw new Error(
      `the database is not empty (${name}): restore into a new one, named by DATABASE_URL or by a DATA_DIR that does ` +
        'not exist',
    );
  }
}

/** Gives a database without rows the schema that the backup was made of. */
async function setSchema(
  databaseUrl: string,
  names: readonly string[],
  log: (line: string) => void,
): Promise<void> {
  while ((await migrationStatus(databaseUrl)).applied.some((name) => !names.includes(name))) {
    await revertLastMigration(databaseUrl, log);
  }
  await migrate(databaseUrl, log, names);
}

/** @returns how many images were left out: products have them, and the backup has no file of them */
async function writeRows(client: pg.Client, manifest: Manifest, folder: string): Promise<number> {
  await client.query('BEGIN');
  await client.query(`LOCK TABLE ${manifest.tables.map(({ name }) => name).join(', ')}`);
  await refuseFilled(client);
  // Rows come table by table, so what refers to each other is checked at the end.
  const foreignKeys = await foreignKeysOf(client);
  for (const { table, name } of foreignKeys)
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  for (const { name, columns } of manifest.tables) {
    const target = client.query(copyFrom(`COPY ${name} (${columns.join(', ')}) FROM STDIN`));
    await pipeline(createReadStream(join(folder, name)), target);
  }
  for (const { table, name, definition } of foreignKeys) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  }
  for (const [name, value] of Object.entries(manifest.sequences)) {
    await client.query('SELECT setval($1, $2)', [name, value]);
  }
  const images = Object.keys(manifest.checksums).flatMap((path) => IMAGE_FILE.exec(path)?.[1] ?? []);
  const lost = `DELETE FROM images WHERE host = 'local' AND state = 'attached' AND id <> ALL ($1)`;
  const { rowCount } = await client.query(lost, [images]);
  // The processes that ran these jobs when the backup was made do not run them here.
  await client.query(
    `SELECT graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by)) FROM graphile_worker.jobs
     WHERE locked_by IS NOT NULL HAVING count(*) > 0`,
  );
  await client.query('COMMIT');
  return rowCount ?? 0;
}
