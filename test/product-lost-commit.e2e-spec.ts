import { built } from './support/built.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { DatabaseProxy } from './support/database-proxy.js';
import { BREAD, createProduct, listProducts, pictures, readLedger, sendForm } from './support/products.js';
import { startService, type TestService } from './support/service.js';

let database: TestDatabase;
let proxy: DatabaseProxy;
let service: TestService;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await DatabaseProxy.start(database.url);
  service = await startService({ database, databaseUrl: proxy.url, settings: { CATALOG_CACHE_MB: '64' } });
});

afterAll(async () => {
  await service.stop();
  await proxy.down();
  await database.drop();
});

it.each([['creation'], ['update']])(
  'a product %s whose commit succeeds although its response is lost keeps its images and appears in the list at once',
  async (change) => {
    const admin = await service.admin();
    const { id } = await createProduct(admin, pictures(1));
    // Fills the cache.
    expect(await listProducts(admin, id - 1)).toHaveLength(1);
    proxy.loseResponseTo('COMMIT');
    const request = change === 'creation' ? admin.post('/api/products') : admin.put(`/api/products/${id}`);
    await sendForm(request, BREAD, pictures(2)).expect(503);

    const changed = (await listProducts(admin, id - 1)).at(-1);
    expect(changed?.name).toBe(BREAD.name);
    expect(changed?.images).toHaveLength(change === 'creation' ? 2 : 3);
    const states = (await readLedger(database)).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['attached']));
  },
);

it('images that are attached to a product stay attached if a failed request discards them', async () => {
  await createProduct(await service.admin(), pictures(2));
  const attached = await readLedger(database);
  const { ImagesService } = await built('src/images/images.service.js');
  await service.app.get(ImagesService, { strict: false }).discard(attached);
  expect(await readLedger(database)).toEqual(attached);
});
