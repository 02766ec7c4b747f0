import { createHash } from 'node:crypto';
import { access, chmod, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from './support/built.js';
import { Client } from './support/client.js';
import { createDatabase } from './support/databases.js';
import { png } from './support/pictures.js';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from './support/process.js';
import { createProduct } from './support/products.js';
import { ACCESS_SECRET, ADMIN, REFRESH_SECRET } from './support/service.js';
import { until } from './support/wait.js';

const SECRETS = {
  JWT_ACCESS_SECRET: ACCESS_SECRET,
  JWT_REFRESH_SECRET: REFRESH_SECRET,
  LOG_LEVEL: 'error',
  HOST: '127.0.0.1',
};
const PASSWORD = 'correct horse battery staple';
const MANIFEST = 'manifest.json';

let root: string;
const processes = new Set<BuiltProcess>();

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bakery-db-command-'));
  await chmod(root, 0o755); // as root the server runs as another user, who must get to it
});

afterAll(async () => {
  for (const { child, exited } of processes) {
    if (child.exitCode === null) child.kill('SIGTERM');
    await exited;
  }
  await rm(root, { recursive: true, force: true });
});

async function db(
  settings: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const command = spawnBuilt('src/commands/db.js', { ...SECRETS, ...settings }, args);
  return { code: await command.exited, output: command.output() };
}

async function startOn(dataDir: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = spawnBuilt('src/main.js', {
    ...SECRETS,
    DATA_DIR: dataDir,
    PORT: String(port),
    PUBLIC_URL: url,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  processes.add(service);
  await untilListening(service, url);
  return {
    url,
    stop: async () => {
      service.child.kill('SIGTERM');
      expect(await service.exited).toBe(0);
    },
  };
}

async function adminOf(url: string): Promise<Client> {
  const client = new Client(url);
  await client.post('/api/login').send(ADMIN).expect(200);
  return client;
}

/** Customers and products, one after the other, until told to stop; what is acknowledged is remembered. */
function keepWriting(url: string, admin: Client) {
  const done = { customers: [] as string[], products: 0 };
  let isStopping = false;
  const writing = (async () => {
    while (!isStopping) {
      const email = `customer-${done.customers.length}@example.com`;
      await new Client(url).register({ email, password: PASSWORD }).expect(201);
      done.customers.push(email);
      await createProduct(admin, [{ bytes: png(done.products), name: 'a.png' }]);
      done.products += 1;
    }
  })();
  return {
    done,
    stop: async () => {
      isStopping = true;
      await writing;
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

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

describe('npm run db', () => {
  it('backup and restore: all that was acknowledged before the backup began is there, images included, taken while the service writes', async () => {
    const [source, target, backup] = ['source', 'target', 'backup'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    const service = await startOn(source);
    const writing = keepWriting(service.url, await adminOf(service.url));
    await until('some writes are acknowledged', () => writing.done.products >= 3);
    const acknowledged = { customers: [...writing.done.customers], products: writing.done.products };
    const made = await db({ DATA_DIR: source }, 'backup', backup);
    expect(made).toMatchObject({ code: 0, output: expect.stringMatching(/\d+ files, [\d.]+ MB/) as string });
    expect((await stat(backup)).mode & 0o777).toBe(0o700);
    expect(await exists(`${backup}.partial`)).toBe(false);
    await until('it goes on writing', () => writing.done.products > acknowledged.products);
    await writing.stop();

    // A second one to the same folder, and a restore under the running service, change nothing.
    expect(await db({ DATA_DIR: source }, 'backup', backup)).toMatchObject({ code: 1 });
    const inUse = await db({ DATA_DIR: source }, 'restore', backup, '--replace');
    expect(inUse).toEqual({ code: 1, output: `DATA_DIR ${source} is in use by another running service\n` });
    await service.stop();

    const restored = await db({ DATA_DIR: target }, 'restore', backup);
    expect(restored).toMatchObject({ code: 0 });
    const counts = /(\d+) accounts, (\d+) products, 0 orders/.exec(restored.output);
    expect(Number(counts?.[1])).toBeGreaterThan(acknowledged.customers.length);
    expect(Number(counts?.[2])).toBeGreaterThanOrEqual(acknowledged.products);
    const again = await startOn(target);
    for (const email of acknowledged.customers) {
      await new Client(again.url).post('/api/login').send({ email, password: PASSWORD }).expect(200);
    }
    const page = await (await adminOf(again.url)).get('/api/products').expect(200);
    const { products } = (page.body as { data: { products: { images: string[] }[] } }).data;
    expect(products.length).toBeGreaterThanOrEqual(acknowledged.products);
    for (const { images } of products) {
      const image = await fetch(new URL(new URL(images[0] ?? '').pathname, again.url));
      expect(image.status).toBe(200);
      await image.arrayBuffer();
    }
    await again.stop();

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
    const source = join(root, 'of-damaged');
    const backup = join(root, 'undamaged');
    await (await startOn(source)).stop();
    expect(await db({ DATA_DIR: source }, 'backup', backup)).toMatchObject({ code: 0 });
    const dataDir = join(root, 'fresh');
    const damaged = join(root, 'damaged');
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
    const dataDir = join(root, 'interrupted');
    const first = await startOn(dataDir);
    await first.stop();
    const backup = join(root, 'of-interrupted');
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

  it('status, revert and migrate: work with DATABASE_URL, one migration at a time, and say which', async () => {
    const database = await createDatabase();
    const settings = { DATABASE_URL: database.url, DATA_DIR: join(root, 'none') };
    try {
      const before = (await db(settings, 'status')).output;
      const last = /applied\t(\w+)\njob queue/.exec(before)?.[1] ?? '';
      const reverted = await db(settings, 'revert');
      expect(reverted).toMatchObject({
        code: 0,
        output: expect.stringContaining(`reverted ${last};`) as string,
      });
      expect((await db(settings, 'status')).output).toContain(`pending\t${last}`);
      expect(await db(settings, 'migrate')).toEqual({ code: 0, output: `applied ${last}\n` });
      expect((await db(settings, 'status')).output).toBe(before);
      await database.pool.query(
        "INSERT INTO migrations (timestamp, name) VALUES (1999999999999, 'Later1999999999999')",
      );
      const unknown = await db(settings, 'revert');
      expect(unknown).toMatchObject({
        code: 1,
        output: expect.stringContaining('by a newer build') as string,
      });
      const elsewhere = await db(settings, 'backup', join(root, 'elsewhere'));
      expect(elsewhere).toMatchObject({ code: 2, output: expect.stringContaining('pg_dump') as string });
    } finally {
      await database.drop();
    }
  });

  it.each([
    [[]],
    [['backup']],
    [['backup', 'a', 'b']],
    [['status', '--replace']],
    [['restore', 'a', '--force']],
  ])('answers wrong use with its help and 2: %j', async (args) => {
    const { code, output } = await db({ DATA_DIR: join(root, 'none') }, ...args);
    expect({ code, output }).toEqual({
      code: 2,
      output: expect.stringContaining('npm run db -- backup DIR') as string,
    });
  });
});
