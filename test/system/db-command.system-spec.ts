import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '../support/client.js';
import {
  beginTransaction,
  createDatabase,
  createEmptyDatabase,
  type TestDatabase,
} from '../support/databases.js';
import { runDb, spawnDb } from '../support/db-command.js';
import { addJob, readJobs } from '../support/jobs.js';
import { createPng } from '../support/pictures.js';
import { useFolder } from '../support/process.js';
import { createPictures, createProduct, listProducts, readImageStatus } from '../support/products.js';
import { SERVER_KEY } from '../support/service.js';
import { ServiceInstance } from '../support/service-process.js';
import { inParallel, until } from '../support/wait.js';

const PASSWORD = 'correct horse battery staple';

let root: string;

beforeEach(async () => {
  root = await useFolder('bakery-db-command-');
});

const at = (name: string): string => join(root, name);

/** Starts a service with an embedded database. */
async function start(dataDir: string): Promise<ServiceInstance> {
  const instance = await ServiceInstance.create(dataDir);
  await instance.start();
  return instance;
}

/** Settings of commands for a database, with a missing DATA_DIR. */
const settingsOf = ({ url }: TestDatabase) => ({ DATABASE_URL: url, DATA_DIR: at('none') });

const addUser = ({ query }: TestDatabase, name: string) =>
  query<{ id: number }>(
    `INSERT INTO users (fullname, email, password_hash) VALUES ($1::text, $1::text || '@example.com', 'x') RETURNING id`,
    [name],
  );

/** Creates customers and products until `stop` is called, and records those that the service has acknowledged. */
function keepWriting(url: string, admin: Client) {
  const done = { customers: [] as string[], products: 0 };
  const stopping = new AbortController();
  const writing = (async () => {
    while (!stopping.signal.aborted) {
      const email = `customer-${done.customers.length}@example.com`;
      await new Client(url).register({ email, password: PASSWORD }).expect(201);
      done.customers.push(email);
      await createProduct(admin, createPictures(1));
      done.products += 1;
    }
  })();
  const stop = async () => {
    stopping.abort();
    await writing;
  };
  return { done, stop };
}

describe('a backup', () => {
  it('under load contains everything that was written before the backup began, except images without a product', async () => {
    const [source, target, file] = [at('source'), at('target'), at('backup')];
    const service = await start(source);
    const writing = keepWriting(service.url, await service.admin());
    await until('three products are created', () => writing.done.products >= 3);
    const imageOfNoProduct = join('aa', `${randomUUID()}.png`);
    await mkdir(join(source, 'images', 'aa'), { recursive: true });
    await writeFile(join(source, 'images', imageOfNoProduct), createPng(0));
    const acknowledged = { customers: [...writing.done.customers], products: writing.done.products };
    const summary = await runDb(0, { DATA_DIR: source }, 'backup', file);
    expect(summary).toMatch(/: \d+ tables, \d+ rows, [1-9]\d* images, \d+ bytes \(\d\.\d MB\)\n$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await until('another product is created', () => writing.done.products > acknowledged.products);
    await writing.stop();
    expect(await service.stop()).toEqual([0]);

    await runDb(0, { DATA_DIR: target }, 'restore', file);
    expect(await readdir(join(target, 'images'), { recursive: true })).not.toContain(imageOfNoProduct);
    const restored = await start(target);
    for (const email of acknowledged.customers)
      await new Client(restored.url).post('/api/login').send({ email, password: PASSWORD }).expect(200);
    const admin = await restored.admin();
    const products = await listProducts(admin);
    expect(products.length).toBeGreaterThanOrEqual(acknowledged.products);
    for (const { images } of products) expect(await readImageStatus(admin, images?.[0])).toBe(200);
    await createProduct(admin, []); // gets a new id, because the sequences are restored too
  });

  it('of an earlier schema is restored with its jobs and migrated to the newest schema, but only into a database without data', async () => {
    const source = await createDatabase();
    await addUser(source, 'wayan');
    await addJob(source.pool, 'send-mail');
    const settings = settingsOf(source);
    const newest = await runDb(0, settings, 'status');
    for (let step = 0; step < 2; step += 1) await runDb(0, settings, 'revert');
    const file = at('earlier.backup');
    await runDb(0, settings, 'backup', file);
    for (const create of [createDatabase, createEmptyDatabase]) {
      const target = await create();
      await runDb(0, settingsOf(target), 'restore', file);
      const users = await target.query('SELECT id, email FROM users');
      expect(users).toEqual([{ id: 1, email: 'wayan@example.com' }]);
      expect(await addUser(target, 'after-restore')).toEqual([{ id: 2 }]);
      expect(await readJobs(target.pool)).toMatchObject([{ key: 'send-mail', locked_by: null }]);
      expect(await runDb(0, settingsOf(target), 'status')).toBe(newest);
      expect(await runDb(1, settingsOf(target), 'restore', file)).toContain('is not empty');
    }
  });

  it('leaves ids for later migrations if migrations of the target were reverted and applied again', async () => {
    const source = await createDatabase();
    const target = await createDatabase();
    const file = at('same-schema.backup');
    await runDb(0, settingsOf(source), 'backup', file);
    for (const step of ['revert', 'migrate']) await runDb(0, settingsOf(target), step);
    await runDb(0, settingsOf(target), 'restore', file);
    const next = "SELECT nextval('migrations_id_seq') > max(id) AS is_free FROM migrations";
    expect(await target.query(next)).toEqual([{ is_free: true }]);
  });

  it('restored twice into one database at the same time is restored once: the other restore changes nothing', async () => {
    const source = await createDatabase();
    await addUser(source, 'wayan');
    const file = at('shop.backup');
    await runDb(0, settingsOf(source), 'backup', file);
    const target = await createEmptyDatabase();
    // Both restores have found an empty database when they wait for this lock of the migrations.
    const { commit } = await beginTransaction(target, 'SELECT pg_advisory_xact_lock(7225001)');
    const restores = ['first', 'second'].map((name) =>
      spawnDb({ DATABASE_URL: target.url, DATA_DIR: at(name) }, 'restore', file),
    );
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = 'bakery-connection' AND query LIKE '%pg_try_advisory_xact_lock%'`;
    await until('both restores wait', async () => (await target.query(waiting)).length === 2);
    await commit();
    const codes = await Promise.all(restores.map(({ exited }) => exited));
    expect(codes.sort()).toEqual([0, 1]);
    expect(restores.map(({ output }) => output()).join('')).toContain('the database is not empty');
    expect(await target.query('SELECT email FROM users')).toEqual([{ email: 'wayan@example.com' }]);
  });

  it('is not ended by the timeouts that the database sets for its users', async () => {
    const database = await createDatabase();
    await database.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 1000', current_database());
         EXECUTE format('ALTER DATABASE %I SET lock_timeout = 1000', current_database()); END $$`,
    );
    const { commit } = await beginTransaction(database, 'LOCK TABLE users');
    const backup = spawnDb(settingsOf(database), 'backup', at('slow.backup'));
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND query_start < clock_timestamp() - interval '1500 ms'`;
    const hasWaited = async () => (await database.query(waiting)).length > 0;
    await until('the backup has waited longer than the timeouts', hasWaited);
    await commit();
    expect({ code: await backup.exited, output: backup.output() }).toMatchObject({ code: 0 });
  });

  it.each([
    ['creation', 'backup', (names: string[]) => names.includes('interrupted.backup.partial')],
    ['restore', 'restore', (names: string[]) => names.some((name) => name.startsWith('restore-'))],
  ])('whose %s is ended by a signal leaves no folder behind', async (_what, action, hasBegun) => {
    const database = await createDatabase();
    const file = at('interrupted.backup');
    if (action === 'restore') await runDb(0, settingsOf(database), 'backup', file);
    const before = await readdir(root);
    const { commit } = await beginTransaction(database, 'LOCK TABLE users');
    const command = spawnDb({ DATABASE_URL: database.url, DATA_DIR: root }, action, file);
    await until(`the ${action} has begun`, async () => hasBegun(await readdir(root)));
    command.child.kill('SIGTERM');
    expect(await command.exited).toBe(1);
    expect(await readdir(root)).toEqual(before);
    await commit();
  });

  it('fails if another backup is writing its file, or if the file exists', async () => {
    const database = await createDatabase();
    const settings = settingsOf(database);
    const file = at('shop.backup');
    const { commit } = await beginTransaction(database, 'LOCK TABLE users');
    // This backup waits for the locked table.
    const first = spawnDb(settings, 'backup', file);
    const hasBegun = async () => (await readdir(root)).includes('shop.backup.partial');
    await until('the first backup has begun', hasBegun);
    const second = await runDb(1, settings, 'backup', file);
    expect(second).toContain(`${file}.partial exists: another backup is running`);
    await commit();
    expect(await first.exited).toBe(0);
    const later = await runDb(1, settings, 'backup', file);
    expect(later).toContain(`${file} exists: choose the name of a new file`);
    expect(await readdir(root)).not.toContain('shop.backup.partial');
  });
});

describe('npm run db', () => {
  it('lists, reverts and applies the migrations of DATABASE_URL, but does not revert a migration of a newer build', async () => {
    const database = await createDatabase();
    const settings = settingsOf(database);
    const before = await runDb(0, settings, 'status');
    const last = /applied\t(\w+)\n$/.exec(before)?.[1] ?? '';
    const production = { ...settings, NODE_ENV: 'production', MIDTRANS_SERVER_KEY: SERVER_KEY };
    expect(await runDb(1, production, 'revert')).toContain('use --yes');
    expect(await runDb(0, production, 'revert', '--yes')).toContain(`reverted ${last};`);
    expect(await runDb(0, settings, 'status')).toContain(`pending\t${last}`);
    expect(await runDb(0, settings, 'migrate')).toBe(`applied ${last}\n`);
    expect(await runDb(0, settings, 'status')).toBe(before);
    const later = "INSERT INTO migrations (timestamp, name) VALUES (1999999999999, 'Later1999999999999')";
    await database.query(later);
    expect(await runDb(1, settings, 'revert')).toContain('by a newer build');
  });

  it('lets concurrent commands that each start the embedded database take turns', async () => {
    await inParallel(3, () => runDb(0, { DATA_DIR: at('turns') }, 'migrate'));
  });

  it('reports in one line that DATA_DIR, the images or the folder of the backup cannot be used', async () => {
    const file = at('images'); // has the name of the folder of images if DATA_DIR is `root`
    await writeFile(file, '');
    const database = await createDatabase();
    const settings = { DATABASE_URL: database.url, DATA_DIR: root };
    const missing = join(root, 'no', 'such');
    expect(await runDb(1, settings, 'backup', join(missing, 'backup'))).toBe(
      `ENOENT: no such file or directory, mkdir '${missing}/backup.partial'\n`,
    );
    await database.query(
      `INSERT INTO products (name, description, price) VALUES ('Kue lapis', 'Eighteen layers', 185000);
       INSERT INTO images (id, host, state, product_id, position, url)
         SELECT gen_random_uuid(), 'local', 'attached', id, 1, 'x.png' FROM products`,
    );
    expect(await runDb(1, settings, 'backup', at('without-images'))).toMatch(/^ENOTDIR.*images.*\n$/);
    const dataDirBelowFile = await runDb(1, { DATA_DIR: join(file, 'data') }, 'status');
    expect(dataDirBelowFile).toBe(`DATA_DIR ${file}/data cannot be used (ENOTDIR)\n`);
  });
});
