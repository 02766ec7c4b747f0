import type { Client } from './support/client.js';
import { createProduct, ledger, NOT_FOUND, pictures, type ProductAnswer } from './support/products.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

describe('deleting a product', () => {
  let service: TestService;
  let admin: Client;

  beforeAll(async () => {
    service = await startService();
    admin = await service.admin();
  });

  afterAll(() => service.stop());

  async function imageStatuses({ images }: ProductAnswer): Promise<number[]> {
    const answers = await Promise.all(
      (images ?? []).map((url) => service.client().get(new URL(url).pathname)),
    );
    return answers.map(({ status }) => status);
  }

  it('returns 204 without a body and removes the product and its images at the host (contract 4.8)', async () => {
    const other = await createProduct(admin, pictures(3));
    const product = await createProduct(admin, pictures(3));
    expect(await imageStatuses(product)).toEqual([200, 200, 200]);

    const answer = await admin.delete(`/api/products/${product.id}`).expect(204);
    expect(answer.text).toBe('');
    expect(answer.headers['content-type']).toBeUndefined();

    await admin.get(`/api/products/${product.id}`).expect(404);
    const list = await admin.get('/api/products').expect(200);
    expect((list.body as { data: { products: ProductAnswer[] } }).data.products).toEqual([other]);
    await until('its images are gone from the host', async () =>
      (await imageStatuses(product)).every((status) => status === 404),
    );
    await until('its rows in the ledger are gone', async () => {
      const rows = await ledger(service.database);
      return rows.every(({ product_id }) => product_id === other.id);
    });
    expect(await imageStatuses(other)).toEqual([200, 200, 200]);
  });

  it('succeeds for exactly one of ten parallel requests', async () => {
    const { id } = await createProduct(admin, pictures(3));
    const answers = await Promise.all(Array.from({ length: 10 }, () => admin.delete(`/api/products/${id}`)));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 404)]);
  });

  it.each(['2000000000', '9'.repeat(400), 'abc'])(
    'returns the documented 404 for the unknown product %s',
    async (id) => {
      const answer = await admin.delete(`/api/products/${id}`).expect(404);
      expect(answer.body).toEqual(NOT_FOUND);
    },
  );
});
