import fc from 'fast-check';
import { setTimeout as delay } from 'node:timers/promises';
import { cachedBytes, insertProducts, untilHeard, wire } from './support/catalog.js';
import type { Client } from './support/client.js';
import { DatabaseProxy } from './support/database-proxy.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { png } from './support/pictures.js';
import { freePort, spawnBuilt, untilListening } from './support/process.js';
import { CAKE, createProduct, form, type ProductAnswer } from './support/products.js';
import { ACCESS_SECRET, REFRESH_SECRET, startService, type TestService } from './support/service.js';
import { goodClaims, signToken } from './support/tokens.js';
import { until } from './support/wait.js';

/** A page may be a second old; the rest is for a busy machine to answer. */
const OLDEST_MS = 1000;
const PAGE_SIZE = 50;
const cookie = `accessToken=${signToken(goodClaims())}`;

let database: TestDatabase;
let proxy: DatabaseProxy;
/** Two processes' worth of service on one database, the second of which may lose it. */
let first: TestService;
let second: TestService;
let admin: Client;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await DatabaseProxy.start(database.url);
  first = await startService({ database });
  second = await startService({ database, databaseUrl: proxy.url });
  admin = await first.admin();
});

afterAll(async () => {
  await proxy.down();
  await proxy.up();
  await second.stop();
  await first.stop();
  await proxy.down();
  await database.drop();
});

beforeEach(async () => {
  await database.pool.query('DELETE FROM images');
  await database.pool.query('TRUNCATE products RESTART IDENTITY CASCADE');
  await Promise.all([untilHeard(first), untilHeard(second)]);
});

/** The products of a page; none at the end of the list. */
async function page(url: string, lastId = 0): Promise<ProductAnswer[]> {
  const { status, body } = await wire(url, `/api/products?last_id=${lastId}`, { cookie });
  if (status === 404) return [];
  if (status !== 200) throw new Error(`${status} ${body}`);
  return (JSON.parse(body) as { data: { products: ProductAnswer[] } }).data.products;
}

/** Reads a page, so that it is in memory afterwards. */
async function warm(service: TestService, lastId = 0): Promise<void> {
  await untilHeard(service);
  await page(service.url, lastId);
}

async function attachImage(productId: number, position: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO images (id, host, state, product_id, position, url)
     VALUES (gen_random_uuid(), 'local', 'attached', $1, $2::integer, 'http://bakery.test/' || $2)`,
    [productId, position],
  );
}

describe('page cache: changes are seen whoever makes them', () => {
  const WAYS: readonly (readonly [string, () => Promise<unknown>, (page: ProductAnswer[]) => boolean])[] = [
    [
      'an update by hand',
      () => database.pool.query(`UPDATE products SET name = 'New' WHERE id = 7`),
      (products) => products[6]?.name === 'New',
    ],
    [
      'an insert by hand behind the end',
      () => insertProducts(database, 1),
      (products) => products.length === 21,
    ],
    [
      'an insert by hand far behind the end',
      () =>
        database.pool.query(
          `INSERT INTO products (id, name, price) OVERRIDING SYSTEM VALUE VALUES (2147483647, 'Last', 1)`,
        ),
      (products) => products.at(-1)?.id === 2_147_483_647,
    ],
    [
      'a deletion by hand',
      () => database.pool.query('DELETE FROM products WHERE id = 7'),
      (products) => products.length === 19,
    ],
    [
      'a change of every product by hand',
      () => database.pool.query('UPDATE products SET price = price + 0.5'),
      (products) => products.every(({ id, price }) => price === id + 0.5),
    ],
    [
      'a bulk insert of more products than a message names',
      () => insertProducts(database, 200),
      (products) => products.length === PAGE_SIZE,
    ],
    ['TRUNCATE', () => database.pool.query('TRUNCATE products CASCADE'), (products) => products.length === 0],
    [
      'an image row by hand',
      () => attachImage(7, 0),
      (products) => products[6]?.images?.[0] === 'http://bakery.test/0',
    ],
    [
      "another process's creation",
      () => createProduct(admin, [{ bytes: png(), name: 'a.png' }]),
      (products) => products.at(-1)?.images?.length === 1,
    ],
    [
      "another process's deletion",
      () => admin.delete('/api/products/7').expect(204),
      (products) => products.length === 19,
    ],
  ];

  it.each(WAYS)('page cache: %s shows within a second', async (_way, change, isSeen) => {
    await insertProducts(database, 20);
    await warm(second);
    await change();
    const changed = performance.now();
    await until('the change', async () => isSeen(await page(second.url)));
    expect(performance.now() - changed).toBeLessThan(OLDEST_MS);
  });

  it('page cache: an image that moves to another product shows with both', async () => {
    await insertProducts(database, 3);
    await attachImage(1, 0);
    await warm(second);
    await database.pool.query('UPDATE images SET product_id = 3 WHERE product_id = 1');
    await until('the move', async () => {
      const [one, , three] = await page(second.url);
      return one?.images === null && three?.images?.length === 1;
    });
  });

  it('page cache: what is rolled back tells nobody', async () => {
    await insertProducts(database, 3);
    await warm(second);
    const client = await database.pool.connect();
    await client.query('BEGIN');
    await client.query(`UPDATE products SET name = 'Never'`);
    await client.query('ROLLBACK');
    client.release();
    await untilHeard(second);
    expect((await page(second.url))[0]?.name).toBe('Bread 1');
  });
});

describe('page cache: own writes', () => {
  it('page cache: a process reads what it wrote at once, 8 writers and readers at a time', async () => {
    const writer = async (n: number): Promise<void> => {
      const { id } = await createProduct(admin, [], { ...CAKE, name: `New ${n}` });
      expect((await page(first.url, id - 1))[0]).toMatchObject({ id, name: `New ${n}` });
      for (const price of [1, 2]) {
        const fields = { ...CAKE, price: `${price}`, 'images.removed[]': '' };
        await form(admin.put(`/api/products/${id}`), fields).expect(200);
        expect((await page(first.url, id - 1))[0]).toMatchObject({ id, price });
      }
      await admin.delete(`/api/products/${id}`).expect(204);
      expect((await page(first.url, id - 1)).map((product) => product.id)).not.toContain(id);
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => writer(n)));
  });
});

describe('page cache: the connection that tells of changes', () => {
  it('page cache: cut, no old page is served, and a new connection is found', async () => {
    await insertProducts(database, 3);
    await warm(second);
    await proxy.down();
    expectFailure(await untilRefused(second), 503, MESSAGES.unavailable);
    await database.pool.query(`UPDATE products SET name = 'Changed meanwhile'`);
    await proxy.up();
    await until('an answer', () =>
      page(second.url).then(
        (products) => products[0]?.name === 'Changed meanwhile',
        () => false,
      ),
    );
    await warm(second);
  });

  it('page cache: silent without being cut, no page is older than a second', async () => {
    await insertProducts(database, 3);
    await warm(second);
    proxy.stall();
    await database.pool.query(`UPDATE products SET name = 'Changed in silence'`);
    const changed = performance.now();
    // As after a failover: new connections work, the one that listens stays silent.
    proxy.failOver();
    const reads: { readonly began: number; readonly name: Promise<string | undefined> }[] = [];
    while (performance.now() - changed < OLDEST_MS + 300) {
      const began = performance.now();
      // One that meets a silent connection of the pool has no answer before that is cut.
      const name = page(second.url).then(
        (products) => products[0]?.name,
        () => undefined,
      );
      reads.push({ began, name });
      await Promise.race([name, delay(50)]);
    }
    await proxy.down();
    await proxy.up();
    for (const { began, name } of reads) {
      if (began - changed > OLDEST_MS) expect(await name).not.toBe('Bread 1');
    }
    expect(await reads[0]?.name).toBe('Bread 1');
    await until('a true page', () =>
      page(second.url).then(
        (products) => products[0]?.name === 'Changed in silence',
        () => false,
      ),
    );
  });

  /** The failing answer that a page has once it cannot be had any more. */
  async function untilRefused(service: TestService) {
    const client = service.client().setCookie('accessToken', cookie.slice('accessToken='.length));
    return until('a refusal', async () => {
      const response = await client.get('/api/products');
      return response.status !== 200 && response;
    });
  }
});

describe('page cache: memory', () => {
  it('page cache: keeps to its bytes, whatever it is asked to hold', async () => {
    const small = await startService({ database, settings: { CATALOG_CACHE_MB: '1' } });
    try {
      // Two blocks of 64 KiB each product after escaping: larger than all that there is room for; the rest fits.
      await insertProducts(database, 128, '\u0001'.repeat(10_000));
      await insertProducts(database, 1200, 'x'.repeat(2_000));
      await untilHeard(small);
      let largest = 0;
      for (let lastId = 0; lastId < 1328; lastId += PAGE_SIZE) {
        const products = await page(small.url, lastId);
        expect(products.map(({ id }) => id)).toEqual(
          Array.from({ length: Math.min(PAGE_SIZE, 1328 - lastId) }, (_, n) => lastId + n + 1),
        );
        largest = Math.max(largest, await cachedBytes(small));
        expect(largest).toBeLessThanOrEqual(1024 * 1024);
      }
      expect(largest).toBeGreaterThan(512 * 1024);
    } finally {
      await small.stop();
    }
  });
});

describe('page cache: crashes', () => {
  it('page cache: a process that is killed takes nothing with it, and starts empty', async () => {
    await insertProducts(database, 3);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const settings = {
      PORT: `${port}`,
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      DATA_DIR: first.dataDir,
      JWT_ACCESS_SECRET: ACCESS_SECRET,
      JWT_REFRESH_SECRET: REFRESH_SECRET,
    };
    const doomed = spawnBuilt('src/main.js', settings);
    try {
      await untilListening(doomed, url);
      expect(await page(url)).toHaveLength(3);
    } finally {
      doomed.child.kill('SIGKILL');
    }
    await doomed.exited;
    await warm(first);
    await database.pool.query(`UPDATE products SET name = 'After the crash'`);
    const again = spawnBuilt('src/main.js', settings);
    try {
      await untilListening(again, url);
      expect((await page(url))[0]?.name).toBe('After the crash');
      await until('the others', async () => (await page(first.url))[0]?.name === 'After the crash');
    } finally {
      again.child.kill('SIGTERM');
      expect(await again.exited).toBe(0);
    }
  });
});

/** A write by SQL and what it does to a model: names by id. */
type Write =
  | { readonly kind: 'insert'; readonly id: number }
  | { readonly kind: 'rename' | 'delete'; readonly nth: number }
  | { readonly kind: 'read'; readonly from: number };

const write = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), id: fc.integer({ min: 1, max: 700 }) }),
  fc.record({ kind: fc.constantFrom('rename' as const, 'delete' as const), nth: fc.nat(400) }),
  fc.record({ kind: fc.constant('read' as const), from: fc.integer({ min: 0, max: 750 }) }),
);

describe('page cache: a model', () => {
  it('page cache: any sequence of writes and reads shows what a list in memory would', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 10, maxLength: 30 }), async (writes) => {
        await database.pool.query('TRUNCATE products RESTART IDENTITY CASCADE');
        const names = new Map<number, string>();
        let serial = 0;
        for (const step of writes) {
          serial += 1;
          await apply(step, names, `v${serial}`);
          if (step.kind !== 'read') continue;
          await Promise.all([untilHeard(first), untilHeard(second)]);
          const expected = [...names]
            .filter(([id]) => id > step.from)
            .sort(([a], [b]) => a - b)
            .slice(0, PAGE_SIZE);
          for (const { url } of [first, second, first, second]) {
            expect((await page(url, step.from)).map(({ id, name }) => [id, name])).toEqual(expected);
          }
        }
      }),
      { numRuns: 8 },
    );
  });

  async function apply(step: Write, names: Map<number, string>, name: string): Promise<void> {
    if (step.kind === 'insert') {
      // A run of ids, so that pages fill up, with gaps between the runs.
      const ids = Array.from({ length: 20 }, (_, n) => step.id + n).filter((id) => !names.has(id));
      await database.pool.query(
        `INSERT INTO products (id, name, price) OVERRIDING SYSTEM VALUE SELECT id, $2, 1 FROM unnest($1::integer[]) AS id`,
        [ids, name],
      );
      for (const id of ids) names.set(id, name);
    } else if (step.kind !== 'read') {
      const id = [...names.keys()][step.nth % Math.max(names.size, 1)];
      if (id === undefined) return;
      if (step.kind === 'rename') {
        await database.pool.query('UPDATE products SET name = $2 WHERE id = $1', [id, name]);
        names.set(id, name);
      } else {
        await database.pool.query('DELETE FROM products WHERE id = $1', [id]);
        names.delete(id);
      }
    }
  }
});
