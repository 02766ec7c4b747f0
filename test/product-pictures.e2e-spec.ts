import type { Client } from './support/client.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { png } from './support/pictures.js';
import { CAKE, createProduct, form, type ProductAnswer, productOf } from './support/products.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

const OLD = 'http://localhost:3000';
const NEW = 'https://shop.example';

/** A shop whose images were stored under an earlier PUBLIC_URL. */
describe('a shop that moves to another address', () => {
  let database: TestDatabase;
  let service: TestService;
  let admin: Client;
  let before: ProductAnswer & { readonly images: string[] };

  beforeAll(async () => {
    database = await createDatabase();
    service = await startService({ database, settings: { PUBLIC_URL: OLD } });
    before = await createProduct(await service.admin(), [
      { bytes: png(1), name: 'a.png' },
      { bytes: png(2), name: 'b.png' },
      { bytes: png(3), name: 'c.png' },
    ]);
    const { dataDir } = service;
    await service.app.close();
    service = await startService({ database, settings: { PUBLIC_URL: NEW, DATA_DIR: dataDir } });
    admin = await service.admin();
  });

  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it('shows its images under the new address, in the list and in a single product', async () => {
    const moved = before.images.map((url) => url.replace(OLD, NEW));
    expect(productOf(await admin.get(`/api/products/${before.id}`).expect(200)).images).toEqual(moved);
    const list = await admin.get('/api/products').expect(200);
    const { products } = (list.body as { data: { products: ProductAnswer[] } }).data;
    expect(products[0]?.images).toEqual(moved);
    const picture = await service
      .client()
      .get(new URL(moved[0] ?? '').pathname)
      .expect(200);
    expect(picture.body).toEqual(png(1));
  });

  it('removes an image by its current URL and by its URL before the move', async () => {
    const [first = '', second = '', third = ''] = before.images;
    const removed = [first.replace(OLD, NEW), second];
    const answer = await form(admin.put(`/api/products/${before.id}`), {
      ...CAKE,
      'images.removed[]': removed,
    }).expect(200);
    expect(productOf(answer).images).toEqual([third.replace(OLD, NEW)]);
    await until('the picture is gone from the host', async () => {
      const { status } = await service.client().get(new URL(first).pathname);
      return status === 404;
    });
  });
});
