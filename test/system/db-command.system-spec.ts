import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Client } from '../support/client.js';
import { createDatabase } from '../support/databases.js';
import { db, EmbeddedServices, spawnDb } from '../support/db-command.js';
import { png } from '../support/pictures.js';
import { createProduct } from '../support/products.js';
import { ADMIN } from '../support/service.js';
import { until } from '../support/wait.js';

const PASSWORD = 'correct horse battery staple';

let services: EmbeddedServices;

beforeAll(async () => {
  services = await EmbeddedServices.open();
});

afterAll(() => services.close());

async function adminOf(url: string): Promise<Client> {
  const client = new Client(url);
  await client.post('/api/login').send(ADMIN).expect(200);
  return client;
}

/** Customers and products, one after the other, until told to stop; what is acknowledged is remembered. */
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

/** Unfinished backups beside a backup's place. */
async function partials(backup: string): Promise<string[]> {
  return (await readdir(dirname(backup))).filter((name) => name.startsWith(`${basename(backup)}.partial`));
}

describe('npm run db', () => {
  it('backup and restore: all that was acknowledged before the backup began is there, images included, taken while the service writes', async () => {
    const [source, target, backup] = ['source', 'target', 'backup'].map((name) => services.at(name)) as [
      string,
      string,
      string,
    ];
    const service = await services.start(source);
    const writing = keepWriting(service.url, await adminOf(service.url));
    await until('some writes are acknowledged', () => writing.done.products >= 3);
    const acknowledged = { customers: [...writing.done.customers], products: writing.done.products };
    const made = await db({ DATA_DIR: source }, 'backup', backup);
    expect(made).toMatchObject({ code: 0, output: expect.stringMatching(/\d+ files, [\d.]+ MB/) as string });
    expect((await stat(backup)).mode & 0o777).toBe(0o700);
    expect(await partials(backup)).toEqual([]);
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
    const again = await services.start(target);
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
  }, 120_000);

  it('backup: one that was killed does not stand in the way of the next, and one that is being written stays', async () => {
    const [source, backup] = [services.at('of-killed'), services.at('killed')];
    await (await services.start(source)).stop();
    const killed = spawnDb({ DATA_DIR: source }, 'backup', backup);
    await until('it has begun to write', async () => (await partials(backup)).length === 1);
    killed.child.kill('SIGKILL');
    expect(await killed.exited).toBeNull();
    const left = `${backup}.partial-${killed.child.pid}`;
    await writeFile(join(left, 'what it wrote'), '');
    const ofLiving = `${backup}.partial-${process.pid}`;
    await mkdir(ofLiving);
    const made = await db({ DATA_DIR: source }, 'backup', backup);
    expect(made).toMatchObject({
      code: 0,
      output: expect.stringContaining(`removed ${left}, which an interrupted backup left\n`) as string,
    });
    expect(await partials(backup)).toEqual([basename(ofLiving)]);
    expect(await db({ DATA_DIR: services.at('of-backup') }, 'restore', backup)).toMatchObject({ code: 0 });
  });

  it('status, revert and migrate: work with DATABASE_URL, one migration at a time, and say which', async () => {
    const database = await createDatabase();
    const settings = { DATABASE_URL: database.url, DATA_DIR: services.at('none') };
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
      const elsewhere = await db(settings, 'backup', services.at('elsewhere'));
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
    const { code, output } = await db({ DATA_DIR: services.at('none') }, ...args);
    expect({ code, output }).toEqual({
      code: 2,
      output: expect.stringContaining('npm run db -- backup DIR') as string,
    });
  });
});
