import { createHash } from 'node:crypto';
import { access, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { built } from '../support/built.js';
import { db, EmbeddedServices } from '../support/db-command.js';

const MANIFEST = 'manifest.json';

let services: EmbeddedServices;

beforeAll(async () => {
  services = await EmbeddedServices.open();
});

afterAll(() => services.close());

/** Changes what a backup says of itself, checksum included, as a newer build would have written it. */
async function rewriteManifest(
  folder: string,
  change: (manifest: Record<string, unknown>) => void,
): Promise<void> {
  const manifest = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Record<string, unknown>;
  change(manifest);
  const text = JSON.stringify(manifest);
  await writeFile(join(folder, MANIFEST), text);
  await writeFile(
    join(folder, 'manifest.sha256'),
    `${createHash('sha256').update(text).digest('hex')}  ${MANIFEST}\n`,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

describe('npm run db -- restore', () => {
  it('restore: refuses a database that is there, and with --replace moves it aside', async () => {
    const target = services.at('target');
    const backup = services.at('of-target');
    await (await services.start(target)).stop();
    expect(await db({ DATA_DIR: target }, 'backup', backup)).toMatchObject({ code: 0 });
    const refused = await db({ DATA_DIR: target }, 'restore', backup);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('with --replace') as string });
    const replaced = await db({ DATA_DIR: target }, 'restore', backup, '--replace');
    expect(replaced).toMatchObject({ code: 0, output: expect.stringContaining('moved aside: ') as string });
    const aside = (await readdir(target)).filter((name) => name.startsWith('postgres.before-restore-'));
    expect(aside).toHaveLength(1);
    expect(await exists(join(target, aside[0] ?? '', 'PG_VERSION'))).toBe(true);
  });

  it('restore: names what is wrong with a backup, and makes nothing of it', async () => {
    const { restoreBackup } = await built('src/config/embedded-postgres/backup/restore.js');
    const source = services.at('of-damaged');
    const backup = services.at('undamaged');
    await (await services.start(source)).stop();
    expect(await db({ DATA_DIR: source }, 'backup', backup)).toMatchObject({ code: 0 });
    const dataDir = services.at('fresh');
    const damaged = services.at('damaged');
    const spoil = async (change: () => Promise<void>, problem: RegExp): Promise<void> => {
      await rm(damaged, { recursive: true, force: true });
      await cp(backup, damaged, { recursive: true });
      await change();
      const restoring = restoreBackup({
        dataDir,
        folder: damaged,
        replace: false,
        knownMigrations,
        finish: () => Promise.reject(new Error('it was recovered')),
        log: () => undefined,
        progress: () => () => undefined,
      });
      await expect(restoring).rejects.toThrow(problem);
      expect(await readdir(dataDir).catch(() => [])).toEqual([]);
    };
    const written = JSON.parse(await readFile(join(backup, MANIFEST), 'utf8')) as { migrations: string[] };
    const knownMigrations = written.migrations;
    const control = join(damaged, 'postgres/global/pg_control');
    await spoil(async () => {
      const bytes = await readFile(control);
      bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
      await writeFile(control, bytes);
    }, /is damaged:\n {2}postgres\/global\/pg_control was changed \(checksum\)/);
    await spoil(() => rm(control), /postgres\/global\/pg_control is missing/);
    await spoil(() => rm(join(damaged, MANIFEST)), /is no complete backup: it has no manifest\.json/);
    await spoil(
      () => rewriteManifest(damaged, (manifest) => (manifest.migrations = ['Tomorrow1999999999999'])),
      /made by a newer build: this one does not know Tomorrow1999999999999/,
    );
    await spoil(
      () => rewriteManifest(damaged, (manifest) => (manifest.postgres = { version: '19.1', major: '19' })),
      /is of PostgreSQL 19\.1 and this build runs 18/,
    );
    await spoil(
      () =>
        rewriteManifest(damaged, (manifest) => {
          (manifest.files as object[]).push({ path: 'postgres/../../escaped', size: 0, sha256: '' });
        }),
      /names a file that no backup has: postgres\/\.\.\/\.\.\/escaped/,
    );
  });

  it('restore: an interrupted one keeps services out until it has been run again', async () => {
    const dataDir = services.at('interrupted');
    const first = await services.start(dataDir);
    await first.stop();
    const backup = services.at('of-interrupted');
    // Of a database on which no service runs.
    expect(await db({ DATA_DIR: dataDir }, 'backup', backup)).toMatchObject({ code: 0 });
    await writeFile(
      join(dataDir, 'restore-unfinished.json'),
      JSON.stringify({ process: 2 ** 22 + 1, backup, began: '2026-11-20T00:00:00.000Z' }),
    );
    const status = await db({ DATA_DIR: dataDir }, 'status');
    expect(status).toMatchObject({ code: 1, output: expect.stringContaining('has not ended') as string });
    const restored = await db({ DATA_DIR: dataDir }, 'restore', backup, '--replace');
    expect(restored).toMatchObject({ code: 0, output: expect.stringContaining('was interrupted') as string });
    expect(await db({ DATA_DIR: dataDir }, 'status')).toMatchObject({ code: 0 });
  });
});
