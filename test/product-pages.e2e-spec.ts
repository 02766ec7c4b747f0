import { importBuilt } from './support/built.js';
import { useServiceBehindProxy } from './support/database-proxy.js';
import { readMetric } from './support/metrics.js';
import {
  BREAD,
  CAKE,
  createPictures,
  createProduct,
  insertProducts,
  listProducts,
  readLedger,
  sendForm,
} from './support/products.js';
import { useService } from './support/service.js';
import { inParallel, until } from './support/wait.js';

const SHOP = 'https://shop.example';
const TEXT_TO_ESCAPE = 'Roti "sisir"\t\u0001\u2028é🥐 </script>';
/** Lifetime of a cached page, plus time for a busy machine to load the page. */
const MAX_AGE_MS = 1000 + 500;

const service = await useServiceBehindProxy({ CORS_ORIGINS: SHOP });
const admin = await service.admin();
const { ProductPages } = await importBuilt('src/products/product-pages.js');

describe('the cache of the product list', () => {
  beforeEach(async () => {
    await service.database.query('TRUNCATE images, products RESTART IDENTITY CASCADE');
    await insertProducts(service.database, 60, TEXT_TO_ESCAPE);
    // Otherwise the service might return an old page for up to a second.
    service.app.get(ProductPages).clear();
  });

  it('serves repeated requests for a page without the database, except one read per second', async () => {
    const chunkCount = service.proxy.statementChunks.length;
    const startedAt = performance.now();
    for (let round = 0; round < 4; round += 1)
      await inParallel(10, () => admin.get('/api/products').expect(200));
    const elapsedSeconds = (performance.now() - startedAt) / 1000;
    const reads = service.proxy.statementChunks
      .slice(chunkCount)
      .filter((text) => text.includes('FROM products'));
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.length).toBeLessThanOrEqual(1 + elapsedSeconds);
  });

  it('contains quotes, control characters and emoji unchanged', async () => {
    expect((await listProducts(admin))[0]?.description).toBe(TEXT_TO_ESCAPE);
  });

  it.each([
    [{}, 200],
    [{ Origin: SHOP }, 200],
    [{ 'If-None-Match': 'current' }, 304],
    [{ 'If-None-Match': 'W/"0"' }, 200],
  ] as [Record<string, string>, number][])('responds to the headers %j with %d', async (headers, status) => {
    const first = await admin.get('/api/products').expect(200);
    const request = admin.get('/api/products').set(headers);
    const etag = first.headers.etag ?? '';
    if (headers['If-None-Match'] === 'current') void request.set('If-None-Match', etag);
    const response = await request.expect(status);
    expect(response.headers).toMatchObject({ etag, 'cache-control': 'private, no-cache' });
    expect(response.text).toBe(status === 304 ? '' : first.text);
    if (status === 200) expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('shows the changes of its own process at once, even with 8 parallel writers, each of which reads after every write', async () => {
    const writer = async (n: number): Promise<void> => {
      const { id } = await createProduct(admin, [], { ...CAKE, name: `New ${n}` });
      expect((await listProducts(admin, id - 1))[0]).toMatchObject({ id, name: `New ${n}` });
      for (const price of [1, 2]) {
        await sendForm(admin.put(`/api/products/${id}`), { ...BREAD, price: `${price}` }).expect(200);
        expect((await listProducts(admin, id - 1))[0]).toMatchObject({ id, price });
      }
      await admin.delete(`/api/products/${id}`).expect(204);
      expect((await listProducts(admin, id - 1)).map((product) => product.id)).not.toContain(id);
    };
    await inParallel(8, writer);
  });

  it('shows the changes of another process within a second', async () => {
    // A second service with a cache of its own stands for the other process.
    const other = await useService({ database: service.database });
    const customer = await other.customer();
    expect(await listProducts(customer, 50)).toHaveLength(10);
    const { id } = await createProduct(admin, createPictures(1));
    const changedAt = Date.now();
    let staleAt = changedAt; // time at which the last request that got the old page was sent
    await until('the change', async () => {
      const sentAt = Date.now();
      if ((await listProducts(customer, 50)).some((product) => product.id === id)) return true;
      staleAt = sentAt;
      return false;
    });
    expect(staleAt - changedAt).toBeLessThan(MAX_AGE_MS);
  });

  it('does not exceed the size of CATALOG_CACHE_MB', async () => {
    await insertProducts(service.database, 1200, 'x'.repeat(2_000));
    // Both services of this test set this gauge when they load a page, but only `small` gets requests.
    const settings = { CATALOG_CACHE_MB: '1' };
    const small = await useService({ database: service.database, settings });
    const client = await small.admin();
    let largest = 0;
    for (let lastId = 60; lastId < 1260; lastId += 50) {
      expect(await listProducts(client, lastId)).toHaveLength(50);
      largest = Math.max(largest, await readMetric('bakery_catalog_cache_bytes'));
    }
    expect(largest).toBeGreaterThan(512 * 1024);
    expect(largest).toBeLessThanOrEqual(1024 * 1024);
  });
});

it.each(['creation', 'update'])(
  'after a product %s whose COMMIT succeeds although the response is lost, the product has its images and is listed at once',
  async (change) => {
    const { id } = await createProduct(admin, createPictures(1));
    // Fills the cache.
    expect(await listProducts(admin, id - 1)).toHaveLength(1);
    service.proxy.loseResponseTo('COMMIT');
    const request = change === 'creation' ? admin.post('/api/products') : admin.put(`/api/products/${id}`);
    await sendForm(request, BREAD, createPictures(2)).expect(503);

    const changed = (await listProducts(admin, id - 1)).at(-1);
    expect(changed?.name).toBe(BREAD.name);
    expect(changed?.images).toHaveLength(change === 'creation' ? 2 : 3);
    const states = (await readLedger(service.database)).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['attached']));
  },
);
