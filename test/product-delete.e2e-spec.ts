import type { Client } from './support/client.js';
import { NOT_FOUND } from './support/failure.js';
import { createProduct, imageStatus, listProducts, pictures, readLedger } from './support/products.js';
import { useService } from './support/service.js';
import { until } from './support/wait.js';

describe('DELETE /api/products/{product_id}', () => {
  const service = useService();
  let admin: Client;

  beforeAll(async () => {
    admin = await service.admin();
  });

  it('returns 204 without a body and removes the product and its images at the host (contract 4.8)', async () => {
    const other = await createProduct(admin, pictures(3));
    const { id, images } = await createProduct(admin, pictures(3));
    const statusesOf = (urls: string[]) => Promise.all(urls.map((url) => imageStatus(admin, url)));
    expect(await statusesOf(images)).toEqual([200, 200, 200]);

    const answer = await admin.delete(`/api/products/${id}`).expect(204);
    expect(answer.text).toBe('');
    expect(answer.headers['content-type']).toBeUndefined();

    await admin.get(`/api/products/${id}`).expect(404);
    expect(await listProducts(admin)).toEqual([other]);
    await until('its images are gone from the host', async () =>
      (await statusesOf(images)).every((status) => status === 404),
    );
    await until('its rows in the ledger are gone', async () =>
      (await readLedger(service.database)).every(({ product_id }) => product_id === other.id),
    );
    expect(await statusesOf(other.images)).toEqual([200, 200, 200]);
  });

  it('succeeds for exactly one of ten parallel requests', async () => {
    const { id } = await createProduct(admin, pictures(3));
    const answers = await Promise.all(Array.from({ length: 10 }, () => admin.delete(`/api/products/${id}`)));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 404)]);
  });

  it.each(['2000000000', 'abc'])('returns the documented 404 for the unknown product %s', async (id) => {
    expect((await admin.delete(`/api/products/${id}`).expect(404)).body).toEqual(NOT_FOUND);
  });
});
