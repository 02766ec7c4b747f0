import { clearCachedPages, insertProducts } from './support/catalog.js';
import type { Client } from './support/client.js';
import { buildValidationFailure, NOT_FOUND } from './support/failure.js';
import { createProduct, type PageAnswer, pictures } from './support/products.js';
import { useService } from './support/service.js';

const MAX_ID = 2_147_483_647;

const service = useService();
let customer: Client;

beforeAll(async () => {
  customer = await service.customer();
});

beforeEach(async () => {
  await service.database.pool.query('TRUNCATE images, products RESTART IDENTITY CASCADE');
  await clearCachedPages(service);
});

describe('GET /api/products', () => {
  it('returns 120 products by id in pages of 50, up to the final 404 (contract 4.5)', async () => {
    await insertProducts(service.database, 120);
    const pages: number[][] = [];
    let lastId = 0;
    for (let page = 0; page < 3; page += 1) {
      const answer = await customer.get(`/api/products?last_id=${lastId}`).expect(200);
      const { meta, products } = (answer.body as PageAnswer).data;
      pages.push(products.map(({ id }) => id));
      lastId = meta.lastProductId;
      expect(lastId).toBe(products.at(-1)?.id);
    }
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(pages.flat()).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    expect((await customer.get(`/api/products?last_id=${lastId}`).expect(404)).body).toEqual(NOT_FOUND);
  });

  it.each([`${MAX_ID + 1}`, '1e400'])(
    'returns the documented 404 for last_id=%s, which is larger than any id',
    async (lastId) => {
      await insertProducts(service.database, 3);
      const answer = await customer.get(`/api/products?last_id=${lastId}`).expect(404);
      expect(answer.body).toEqual(NOT_FOUND);
    },
  );

  it.each(['last_id=abc', 'last_id=', 'last_id=0x10', 'last_id=1&last_id=2'])(
    'rejects %s with a message for last_id, because it is not a number',
    async (query) => {
      await insertProducts(service.database, 3);
      const answer = await customer.get(`/api/products?${query}`).expect(400);
      const details = { last_id: 'last_id should be a number' };
      expect(answer.body).toEqual(buildValidationFailure(details));
    },
  );

  it('shows exactly the documented fields of a product, with null if it has no images (contract 2.2)', async () => {
    await insertProducts(service.database, 1);
    const products = [{ id: 1, name: 'Bread 1', description: 'Loaf', price: 1, images: null }];
    const answer = await customer.get('/api/products').expect(200);
    expect(answer.body).toEqual({ status: 'success', data: { meta: { lastProductId: 1 }, products } });
  });
});

describe('GET /api/products/{product_id}', () => {
  it('returns a product to any signed-in caller in the form of the list', async () => {
    const created = await createProduct(await service.admin(), pictures(1));
    const answer = await customer.get(`/api/products/${created.id}`).expect(200);
    expect(answer.body).toEqual({ status: 'success', data: { products: created } });
  });

  it.each(['2', '0', '-1', '01', 'abc', `${MAX_ID + 1}`, '9'.repeat(400), '1%00'])(
    'returns the documented 404 for the unknown id %s',
    async (id) => {
      await insertProducts(service.database, 1);
      expect((await customer.get(`/api/products/${id}`).expect(404)).body).toEqual(NOT_FOUND);
    },
  );
});
