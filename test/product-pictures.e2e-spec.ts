import type { Client } from './support/client.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import {
  CAKE,
  type CreatedProduct,
  createProduct,
  imageStatus,
  listProducts,
  pictures,
  productOf,
  readProduct,
  sendForm,
} from './support/products.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

const OLD = 'http://localhost:3000';
const NEW = 'https://shop.example';

describe('a shop whose PUBLIC_URL changes', () => {
  let database: TestDatabase;
  let service: TestService;
  let admin: Client;
  let before: CreatedProduct;

  beforeAll(async () => {
    database = await createDatabase();
    service = await startService({ database, settings: { PUBLIC_URL: OLD } });
    before = await createProduct(await service.admin(), pictures(3));
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
    expect((await readProduct(admin, before.id)).images).toEqual(moved);
    expect((await listProducts(admin))[0]?.images).toEqual(moved);
    expect(await imageStatus(admin, moved[0])).toBe(200);
  });

  it('removes an image by its current URL and by its URL before the move', async () => {
    const [first = '', second = '', third = ''] = before.images;
    const fields = { ...CAKE, 'images.removed[]': [first.replace(OLD, NEW), second] };
    const answer = await sendForm(admin.put(`/api/products/${before.id}`), fields).expect(200);
    expect(productOf(answer).images).toEqual([third.replace(OLD, NEW)]);
    await until('the image is gone from the host', async () => (await imageStatus(admin, first)) === 404);
  });
});
