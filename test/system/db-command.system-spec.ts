import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../support/client.js';
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { runDb, spawnDb } from '../support/db-command.js';
import { png } from '../support/pictures.js';
import { createProduct, imageStatus, listProducts, pictures } from '../support/products.js';
import { ServiceInstance } from '../support/service-process.js';
import { until } from '../support/wait.js';

const PASSWORD = 'correct horse battery staple';

let root: string;
let databases: TestDatabase[] = [];
let instances: ServiceInstance[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'bakery-db-command-'));
  await chmod(root, 0o755); // If root runs the tests, the server runs as another user, who needs access.
});

afterEach(async () => {
  for (const instance of instances) await instance.clear();
  for (const database of databases) await database.drop();
  await rm(root, { recursive: true, force: true });
  [databases, instances] = [[], []];
});

const at = (name: string): string => join(root, name);

/** Drops a created database after the test. */
async function dropAfterTest(made: Promise<TestDatabase>): Promise<TestDatabase> {
  databases.push(await made);
  return made;
}

/** Starts a service with an embedded database. */
async function start(dataDir: string): Promise<ServiceInstance> {
  const instance = await ServiceInstance.create(dataDir);
  instances.push(instance);
  await instance.start();
  return instance;
}

/** Runs `npm run db` and expects an exit code. @returns the output */
async function db(settings: Readonly<Record<string, string>>, expected: number, ...args: string[]) {
  const { code, output } = await runDb({ DATA_DIR: at('none'), ...settings }, ...args);
  expect({ code, output }).toMatchObject({ code: expected });
  return output;
}

const addUser = ({ pool }: TestDatabase, name: string) =>
  pool.query<{ id: number }>(
    `INSERT INTO users (fullname, email, password_hash) VALUES ($1::text, $1::text || '@example.com', 'x') RETURNING id`,
    [name],
  );

/** Creates customers and products until it is stopped, and records the acknowledged ones. */
function keepWriting(url: string, admin: Client) {
  const done = { customers: [] as string[], products: 0 };
  const stopping = new AbortController();
  const writing = (async () => {
    while (!stopping.signal.aborted) {
      const email = `customer-${done.customers.length}@example.com`;
      await new Client(url).register({ email, password: PASSWORD }).expect(201);
      done.customers.push(email);
      await createProduct(admin, pictures(1));
      done.products += 1;
    }
  })();
  return {
    done,
    stop: async () => {
      stopping.abort();
      await writing;
    },
  };
}

describe('a backup', () => {
  it('under load contains everything that was acknowledged before it, images included', async () => {
    const [source, target, file] = [at('source'), at('target'), at('backup')];
    const service = await start(source);
    const writing = keepWriting(service.url, await service.admin());
    await until('three products are created', () => writing.done.products >= 3);
    const abandoned = join('aa', `${randomUUID()}.png`);
    await mkdir(join(source, 'images', 'aa'), { recursive: true });
    await writeFile(join(source, 'images', abandoned), png(0));
    const acknowledged = { customers: [...writing.done.customers], products: writing.done.products };
    const summary = await db({ DATA_DIR: source }, 0, 'backup', file);
    expect(summary).toMatch(/: \d+ tables, \d+ rows, [1-9]\d* images, \d+ bytes \(\d\.\d MB\)\n$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await until('another product is created', () => writing.done.products > acknowledged.products);
    await writing.stop();
    await db({ DATA_DIR: source }, 1, 'backup', file);
    expect(await db({ DATA_DIR: source }, 1, 'restore', file)).toContain('is not empty');
    expect(await service.stop()).toEqual([0]);

    await db({ DATA_DIR: target }, 0, 'restore', file);
    expect(await readdir(join(target, 'images'), { recursive: true })).not.toContain(abandoned);
    const restored = await start(target);
    for (const email of acknowledged.customers)
      await new Client(restored.url).post('/api/login').send({ email, password: PASSWORD }).expect(200);
    const admin = await restored.admin();
    const products = await listProducts(admin);
    expect(products.length).toBeGreaterThanOrEqual(acknowledged.products);
    for (const { images } of products) expect(await imageStatus(admin, images?.[0])).toBe(200);
    // Sequences continue.
    await createProduct(admin, []);
  }, 120_000);

  it('of an earlier schema, waiting jobs included, is restored into an empty schema or the newest one and migrated', async () => {
    const source = await dropAfterTest(createDatabase());
    await addUser(source, 'wayan');
    await source.pool.query(`SELECT graphile_worker.add_job('send-mail', '{"waits":"for its time"}')`);
    const settings = { DATABASE_URL: source.url };
    const newest = await db(settings, 0, 'status');
    for (let step = 0; step < 2; step += 1) await db(settings, 0, 'revert');
    const file = at('earlier.backup');
    await db(settings, 0, 'backup', file);
    for (const create of [createDatabase, createEmptyDatabase]) {
      const target = await dropAfterTest(create());
      await db({ DATABASE_URL: target.url }, 0, 'restore', file);
      const users = await target.pool.query('SELECT id, email FROM users');
      expect(users.rows).toEqual([{ id: 1, email: 'wayan@example.com' }]);
      expect((await addUser(target, 'made')).rows).toEqual([{ id: 2 }]);
      const jobs = await target.pool.query('SELECT task_identifier, locked_by FROM graphile_worker.jobs');
      expect(jobs.rows).toEqual([{ task_identifier: 'send-mail', locked_by: null }]);
      expect(await db({ DATABASE_URL: target.url }, 0, 'status')).toBe(newest);
    }
  });

  it('fails if its file exists or another backup is writing the file', async () => {
    const { url, pool } = await dropAfterTest(createDatabase());
    const file = at('partial');
    const holder = await pool.connect();
    await holder.query('BEGIN; LOCK TABLE users');
    const first = spawnDb({ DATABASE_URL: url, DATA_DIR: at('none') }, 'backup', file);
    await until('the first backup has begun', async () => (await readdir(root)).includes('partial.partial'));
    const rejected = await db({ DATABASE_URL: url }, 1, 'backup', file);
    expect(rejected).toContain(`${file}.partial exists: another backup is running`);
    await writeFile(file, 'of another program');
    await holder.query('ROLLBACK');
    holder.release();
    expect(await first.exited).toBe(1);
    expect(first.output()).toContain(`file already exists, open '${file}'`);
    expect(await readFile(file, 'utf8')).toBe('of another program');
    expect((await readdir(root)).filter((name) => name.startsWith('partial'))).toEqual(['partial']);
  });
});

describe('npm run db', () => {
  it('lists, reverts and applies migrations of DATABASE_URL by name', async () => {
    const database = await dropAfterTest(createDatabase());
    const settings = { DATABASE_URL: database.url };
    const before = await db(settings, 0, 'status');
    const last = /applied\t(\w+)\n$/.exec(before)?.[1] ?? '';
    expect(await db(settings, 0, 'revert')).toContain(`reverted ${last};`);
    expect(await db(settings, 0, 'status')).toContain(`pending\t${last}`);
    expect(await db(settings, 0, 'migrate')).toBe(`applied ${last}\n`);
    expect(await db(settings, 0, 'status')).toBe(before);
    const later = "INSERT INTO migrations (timestamp, name) VALUES (1999999999999, 'Later1999999999999')";
    await database.pool.query(later);
    expect(await db(settings, 1, 'revert')).toContain('by a newer build');
  });

  it('lets concurrent commands on a stopped database take turns', async () => {
    const settings = { DATA_DIR: at('turns') };
    const commands = [1, 2, 3].map(() => spawnDb(settings, 'migrate'));
    const ends = await Promise.all(commands.map(({ exited }) => exited));
    expect({ ends, output: commands.map((command) => command.output()) }).toMatchObject({ ends: [0, 0, 0] });
  });

  it.each([
    [[], 'missing or unknown action: use backup, restore, status, migrate or revert'],
    [['backup'], 'backup needs the name of a file'],
    [['restore', 'a', '--force'], "Unknown option '--force'"],
  ])('prints the mistake in the command line above the help: %j', async (args, reason) => {
    const output = await db({}, 2, ...args);
    expect(output).toContain('backup FILE');
    expect(output.slice(0, reason.length)).toBe(reason);
  });

  it('reports in one line that DATA_DIR, the images or the folder of the backup cannot be used', async () => {
    const file = at('images');
    await writeFile(file, '');
    const { url, pool } = await dropAfterTest(createDatabase());
    const inFolder = await db({ DATABASE_URL: url }, 1, 'backup', join(root, 'no', 'such', 'backup'));
    expect(inFolder).toBe(`the folder ${join(root, 'no', 'such')} does not exist: create it first\n`);
    const inFile = await db({ DATABASE_URL: url }, 1, 'backup', join(file, 'backup'));
    expect(inFile).toBe(`${file} is not a folder\n`);
    await pool.query(
      `INSERT INTO products (name, description, price) VALUES ('Kue lapis', 'Eighteen layers', 185000);
       INSERT INTO images (id, host, state, product_id, position, url)
         SELECT gen_random_uuid(), 'local', 'attached', id, 1, 'x.png' FROM products`,
    );
    const withoutImages = await db({ DATABASE_URL: url, DATA_DIR: root }, 1, 'backup', at('without-images'));
    expect(withoutImages).toMatch(/^ENOTDIR.*images/);
    const inData = await db({ DATA_DIR: join(file, 'data') }, 1, 'status');
    expect(inData).toBe(`DATA_DIR ${file}/data cannot be created (ENOTDIR)\n`);
  });
});
