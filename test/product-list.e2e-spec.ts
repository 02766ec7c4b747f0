import { forgetPages } from './support/catalog.js';
import type { Client } from './support/client.js';
import { png } from './support/pictures.js';
import { createProduct, fail, NOT_FOUND, type PageAnswer } from './support/products.js';
import { startService, type TestService } from './support/service.js';

const BAD_LAST_ID = fail(400, 'validation error', { last_id: 'last_id should be a number' });
const MAX_INT4 = 2_147_483_647;

describe('the list of products', () => {
  let service: TestService;
  let customer: Client;

  beforeAll(async () => {
    service = await startService();
    customer = await service.customer();
  });

  afterAll(() => service.stop());

  beforeEach(async () => {
    await sql('DELETE FROM images');
    await sql('TRUNCATE products RESTART IDENTITY CASCADE');
  });

  async function sql(statement: string, values: unknown[] = []): Promise<void> {
    await service.database.pool.query(statement, values);
    await forgetPages(service);
  }

  async function insert(count: number): Promise<void> {
    await sql(
      `INSERT INTO products (name, description, price)
       SELECT 'Bread ' || n, 'Loaf ' || n, n FROM generate_series(1, $1) AS n`,
      [count],
    );
  }

  async function page(query = ''): Promise<PageAnswer['data']> {
    const answer = await customer.get(`/api/products${query}`).expect(200);
    expect((answer.body as PageAnswer).status).toBe('success');
    return (answer.body as PageAnswer).data;
  }

  it('contains 120 products by id in pages of 50, up to the final 404 (contract 4.5)', async () => {
    await insert(120);
    const seen: number[] = [];
    const sizes: number[] = [];
    let query = '';
    for (;;) {
      const answer = await customer.get(`/api/products${query}`);
      if (answer.status === 404) {
        expect(answer.body).toEqual(NOT_FOUND);
        break;
      }
      const { meta, products } = (answer.body as PageAnswer).data;
      sizes.push(products.length);
      seen.push(...products.map(({ id }) => id));
      expect(meta).toEqual({ lastProductId: products.at(-1)?.id });
      query = `?last_id=${meta.lastProductId}`;
    }
    expect(sizes).toEqual([50, 50, 20]);
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
  });

  it.each(['3', `${MAX_INT4 + 1}`, '1e400'])(
    'ends with the documented 404 for last_id=%s, at or after the last product',
    async (lastId) => {
      await insert(3);
      const answer = await customer.get(`/api/products?last_id=${lastId}`).expect(404);
      expect(answer.body).toEqual(NOT_FOUND);
    },
  );

  it.each(['last_id=abc', 'last_id=', 'last_id=0x10', 'last_id=1&last_id=2'])(
    'rejects %s with a message for last_id, because it is not a number',
    async (query) => {
      await insert(3);
      const answer = await customer.get(`/api/products?${query}`).expect(400);
      expect(answer.body).toEqual(BAD_LAST_ID);
    },
  );

  it('shows exactly the documented fields of a product, with null if it has no images (contract 2.2)', async () => {
    await insert(1);
    expect(await page()).toEqual({
      meta: { lastProductId: 1 },
      products: [{ id: 1, name: 'Bread 1', description: 'Loaf 1', price: 1, images: null }],
    });
  });

  describe('one product', () => {
    it('is returned to any signed-in caller in the form of the list', async () => {
      const created = await createProduct(await service.admin(), [{ bytes: png(), name: 'a.png' }]);
      const answer = await customer.get(`/api/products/${created.id}`).expect(200);
      expect(answer.body).toEqual({ status: 'success', data: { products: created } });
    });

    it.each(['2', '0', '-1', '01', 'abc', `${MAX_INT4 + 1}`, '1%00'])(
      'is the documented 404 for the unknown id %s',
      async (id) => {
        await insert(1);
        const answer = await customer.get(`/api/products/${id}`).expect(404);
        expect(answer.body).toEqual(NOT_FOUND);
      },
    );
  });
});
