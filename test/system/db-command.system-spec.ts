import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '../support/client.js';
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { db, EmbeddedServices, spawnDb } from '../support/db-command.js';
import { png } from '../support/pictures.js';
import { createProduct } from '../support/products.js';
import { ADMIN } from '../support/service.js';
import { until } from '../support/wait.js';

const PASSWORD = 'correct horse battery staple';
const databases: TestDatabase[] = [];

let services: EmbeddedServices;

beforeAll(async () => {
  services = await EmbeddedServices.open();
});

afterAll(async () => {
  for (const database of databases) await database.drop();
  await services.close();
});

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  databases.push(database);
  return database;
}

async function adminOf(url: string): Promise<Client> {
  const client = new Client(url);
  await client.post('/api/login').send(ADMIN).expect(200);
  return client;
}

/** Customers and products, one after the other, until told to stop; remembers what was acknowledged. */
function keepWriting(url: string, admin: Client) {
  const done = { customers: [] as string[], products: 0 };
  const stopping = new AbortController();
  const writing = (async () => {
    while (!stopping.signal.aborted) {
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
      stopping.abort();
      await writing;
    },
  };
}

/** A backup of a database of the tests, with one waiting job, and its name. */
async function backupOfOneJob(): Promise<string> {
  const database = await createDatabase();
  databases.push(database);
  await database.pool.query(
    `INSERT INTO users (fullname, email, password_hash) VALUES ('Wayan', 'wayan@example.com', 'x')`,
  );
  await database.pool.query(`SELECT graphile_worker.add_job('send-mail', '{"waits":"for its time"}')`);
  const file = services.at(`${randomUUID()}.backup`);
  const settings = { DATABASE_URL: database.url, DATA_DIR: services.at('none') };
  expect(await db(settings, 'backup', file)).toMatchObject({ code: 0 });
  return file;
}

describe('npm run db -- backup and restore', () => {
  it('all that was acknowledged before a backup under load is in the restored service, images included', async () => {
    const [source, target, file] = [services.at('source'), services.at('target'), services.at('backup')];
    const service = await services.start(source);
    const writing = keepWriting(service.url, await adminOf(service.url));
    await until('some writes are acknowledged', () => writing.done.products >= 3);
    const acknowledged = { customers: [...writing.done.customers], products: writing.done.products };
    expect(await db({ DATA_DIR: source }, 'backup', file)).toEqual({
      code: 0,
      output: expect.stringMatching(/\d\.\d MB\n$/) as string,
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await until('it goes on writing', () => writing.done.products > acknowledged.products);
    await writing.stop();
    expect(await db({ DATA_DIR: source }, 'backup', file)).toMatchObject({ code: 1 });
    const refused = await db({ DATA_DIR: source }, 'restore', file);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('is not empty') as string });
    await service.stop();

    expect(await db({ DATA_DIR: target }, 'restore', file)).toMatchObject({ code: 0 });
    const again = await services.start(target);
    for (const email of acknowledged.customers) {
      await new Client(again.url).post('/api/login').send({ email, password: PASSWORD }).expect(200);
    }
    const admin = await adminOf(again.url);
    const page = await admin.get('/api/products').expect(200);
    const { products } = (page.body as { data: { products: { images: string[] }[] } }).data;
    expect(products.length).toBeGreaterThanOrEqual(acknowledged.products);
    for (const { images } of products) {
      const image = await fetch(new URL(new URL(images[0] ?? '').pathname, again.url));
      expect(image.status).toBe(200);
      await image.arrayBuffer();
    }
    // Numbers go on where they were.
    await createProduct(admin, []);
    await again.stop();
  }, 120_000);

  it('a backup restores into another database of DATABASE_URL, waiting jobs included', async () => {
    const file = await backupOfOneJob();
    const { url, pool } = await emptyDatabase();
    const settings = { DATABASE_URL: url, DATA_DIR: services.at('of-url') };
    expect(await db(settings, 'restore', file)).toMatchObject({ code: 0 });
    expect((await pool.query('SELECT id, email FROM users')).rows).toEqual([
      { id: 1, email: 'wayan@example.com' },
    ]);
    const added = await pool.query(
      `INSERT INTO users (fullname, email, password_hash) VALUES ('Made', 'made@example.com', 'x') RETURNING id`,
    );
    expect(added.rows).toEqual([{ id: 2 }]);
    const jobs = await pool.query('SELECT task_identifier, locked_by FROM graphile_worker.jobs');
    expect(jobs.rows).toEqual([{ task_identifier: 'send-mail', locked_by: null }]);
    expect((await db(settings, 'status')).output).not.toContain('pending');
  });

  it('a backup of an earlier schema is restored and migrated, also into a database that has the newest', async () => {
    const earlier = await createDatabase();
    const later = await createDatabase();
    databases.push(earlier, later);
    await earlier.pool.query(
      `INSERT INTO users (fullname, email, password_hash) VALUES ('Wayan', 'wayan@example.com', 'x')`,
    );
    const settings = { DATABASE_URL: earlier.url, DATA_DIR: services.at('earlier') };
    const newest = (await db(settings, 'status')).output;
    for (let step = 0; step < 2; step += 1) await db(settings, 'revert');
    const file = services.at('earlier.backup');
    expect(await db(settings, 'backup', file)).toMatchObject({ code: 0 });
    const target = { DATABASE_URL: later.url, DATA_DIR: services.at('later') };
    expect(await db(target, 'restore', file)).toMatchObject({ code: 0 });
    expect((await later.pool.query('SELECT email FROM users')).rows).toEqual([
      { email: 'wayan@example.com' },
    ]);
    expect((await db(target, 'status')).output).toBe(newest);
  });

  it('a backup that was cut or changed, or is of a newer build, is refused and nothing is written', async () => {
    const file = await backupOfOneJob();
    const { url, pool } = await emptyDatabase();
    const settings = { DATABASE_URL: url, DATA_DIR: services.at('of-damaged') };
    const refuses = async (backup: string, problem: RegExp): Promise<void> => {
      const { code, output } = await db(settings, 'restore', backup);
      expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(problem) as string });
      expect((await pool.query("SELECT to_regclass('users') AS is")).rows).toEqual([{ is: null }]);
    };
    const bytes = await readFile(file);
    const cut = services.at('cut.backup');
    await writeFile(cut, bytes.subarray(0, bytes.length - 200));
    await refuses(cut, /is no backup, or it was cut or changed/);
    const flipped = services.at('flipped.backup');
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    await writeFile(flipped, bytes);
    await refuses(flipped, /cut or changed/);

    await refuses(services.at('no-such.backup'), /no-such\.backup does not exist/);
    await refuses(services.root, /is no file: version 1\.0 made folders/);

    const folder = services.at('unpacked');
    const repack = async (name: string, change: () => Promise<void>): Promise<string> => {
      await mkdir(folder, { recursive: true });
      await promisify(execFile)('tar', ['-xzf', file, '-C', folder]);
      await change();
      await promisify(execFile)('tar', ['-czf', services.at(name), '-C', folder, '.']);
      return services.at(name);
    };
    const edited = await repack('edited.backup', () =>
      appendFile(join(folder, 'tables', 'public.users'), 'x'),
    );
    await refuses(edited, /was changed: see tables\/public\.users in it/);
    const newer = await repack('newer.backup', async () => {
      const manifest = join(folder, 'manifest.json');
      const text = await readFile(manifest, 'utf8');
      await writeFile(manifest, text.replace('InitialSchema1763600000000', 'Tomorrow1999999999999'));
    });
    await refuses(newer, /made by a newer build: this one does not know Tomorrow1999999999999/);
  });

  it('a second backup to the same file is refused while the first is being written', async () => {
    const source = services.at('of-partial');
    await (await services.start(source)).stop();
    const file = services.at('partial');
    await mkdir(`${file}.partial`);
    expect(await db({ DATA_DIR: source }, 'backup', file)).toMatchObject({
      code: 1,
      output: expect.stringContaining(`${file}.partial exists: another backup is being written`) as string,
    });
    expect((await readdir(services.root)).filter((name) => name.startsWith(basename(file)))).toEqual([
      'partial.partial',
    ]);
  });
});

describe('npm run db', () => {
  it('status, revert and migrate work with DATABASE_URL, one migration at a time, and say which', async () => {
    const database = await createDatabase();
    databases.push(database);
    const settings = { DATABASE_URL: database.url, DATA_DIR: services.at('none') };
    const before = (await db(settings, 'status')).output;
    const last = /applied\t(\w+)\n$/.exec(before)?.[1] ?? '';
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
    expect(unknown).toMatchObject({ code: 1, output: expect.stringContaining('by a newer build') as string });
  });

  it('two commands on a stopped database take turns, and neither loses it', async () => {
    const settings = { DATA_DIR: services.at('turns') };
    const commands = [1, 2, 3].map(() => spawnDb(settings, 'migrate'));
    const ends = await Promise.all(commands.map(({ exited }) => exited));
    expect({ ends, output: commands.map((command) => command.output()) }).toMatchObject({ ends: [0, 0, 0] });
  });

  it.each([
    [[], 'say backup, restore, status, migrate or revert'],
    [['backup'], 'backup needs the name of a file'],
    [['restore', 'a', '--force'], "Unknown option '--force'"],
  ])('says what is wrong with the command line before its help: %j', async (args, reason) => {
    const { code, output } = await db({ DATA_DIR: services.at('none') }, ...args);
    expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining('backup FILE') as string });
    expect(output.slice(0, reason.length)).toBe(reason);
  });

  it.each([
    ['postgresql://x:y@127.0.0.1:1/z', '(127.0.0.1:1/z) does not accept connections: is it running there?'],
    ['postgresql://x:y@host.invalid/z', '(host.invalid/z) is on a host that cannot be found'],
  ])('says in one line why %s cannot be used', async (url, reason) => {
    const settings = { DATABASE_URL: url, DATA_DIR: services.at('none') };
    expect(await db(settings, 'status')).toEqual({
      code: 1,
      output: `the database of DATABASE_URL ${reason}\n`,
    });
  });

  it('says in one line that DATA_DIR cannot be made', async () => {
    const file = services.at('a-file');
    await writeFile(file, '');
    const { code, output } = await db({ DATA_DIR: join(file, 'data') }, 'status');
    expect({ code, output }).toEqual({ code: 1, output: `DATA_DIR ${file}/data cannot be made (ENOTDIR)\n` });
  });
});
