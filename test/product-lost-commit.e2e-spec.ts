import type { Client } from './support/client.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { DatabaseProxy } from './support/database-proxy.js';
import { png } from './support/pictures.js';
import { BREAD, CAKE, createProduct, form, ledger, type PageAnswer, pictures } from './support/products.js';
import { startService, type TestService } from './support/service.js';

let database: TestDatabase;
let proxy: DatabaseProxy;
let service: TestService;
let admin: Client;

beforeEach(async () => {
  database = await createDatabase();
  proxy = await DatabaseProxy.start(database.url);
  service = await startService({ database, databaseUrl: proxy.url, settings: { CATALOG_CACHE_MB: '64' } });
  admin = await service.admin();
});

afterEach(async () => {
  await service.stop();
  await proxy.down();
  await database.drop();
});

async function listProducts(): Promise<PageAnswer['data']['products']> {
  return ((await admin.get('/api/products').expect(200)).body as PageAnswer).data.products;
}

describe('a product change whose commit succeeds although its response is lost', () => {
  it('keeps the images of the created product and shows the product in the list', async () => {
    const before = await createProduct(admin, pictures(1));
    expect(await listProducts()).toHaveLength(1);
    proxy.loseResponseTo('COMMIT');
    await form(admin.post('/api/products'), BREAD, pictures(2)).expect(503);

    const [, created] = await listProducts();
    expect(created).toMatchObject({ name: BREAD.name });
    expect(created?.images).toHaveLength(2);
    expect(await ledger(database)).toHaveLength(before.images.length + 2);
    expect((await ledger(database)).every(({ state }) => state === 'attached')).toBe(true);
  });

  it('keeps the images of the updated product and shows the update in the list', async () => {
    const { id, images } = await createProduct(admin, pictures(1));
    expect((await listProducts())[0]).toMatchObject({ name: CAKE.name, images });
    proxy.loseResponseTo('COMMIT');
    await form(admin.put(`/api/products/${id}`), BREAD, [{ bytes: png(), name: 'new.png' }]).expect(503);

    const [updated] = await listProducts();
    expect(updated).toMatchObject({ name: BREAD.name });
    expect(updated?.images).toHaveLength(2);
    expect((await ledger(database)).map(({ state }) => state)).toEqual(['attached', 'attached']);
  });
});
