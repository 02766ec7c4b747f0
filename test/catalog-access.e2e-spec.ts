import { expectFailure, MESSAGES } from './support/failure.js';
import { createProduct } from './support/products.js';
import { useService } from './support/service.js';
import { signExpiredToken } from './support/tokens.js';

const service = await useService({ settings: { CATALOG_ACCESS: 'public' } });
const product = await createProduct(await service.admin());

describe('with CATALOG_ACCESS=public, the catalog', () => {
  const paths = ['/api/products', '/api/products?q=', `/api/products/${product.id}`];
  const invalidPaths = ['/api/products?last_id=x', `/api/products?q=${'x'.repeat(101)}`];

  it.each([
    ['no', undefined],
    ['an expired', signExpiredToken()],
    ['a malformed', 'a.b.c'],
    ['an empty', ''],
  ])('is available with %s access cookie, and no response is marked private', async (_what, cookie) => {
    const client = service.client();
    if (cookie !== undefined) client.setCookie('accessToken', cookie);
    // Each path twice, because the second response may come from the cache.
    for (const path of [...paths, ...paths]) {
      const { headers } = await client.get(path).expect(200).expect('Cache-Control', 'no-cache');
      await client.get(path).set('If-None-Match', String(headers.etag)).expect(304);
    }
    for (const path of invalidPaths) await client.get(path).expect(400).expect('Cache-Control', 'no-cache');
  });

  it('is marked private in a response to a valid access cookie, and so is the shop', async () => {
    const customer = await service.customer();
    for (const path of [...paths, ...paths, '/api/shop'])
      await customer.get(path).expect(200).expect('Cache-Control', 'private, no-cache');
  });

  it('hides an unavailable product from visitors, but not from administrators', async () => {
    const admin = await service.admin();
    const { id: hidden } = await createProduct(admin);
    const path = `/api/products/${hidden}`;
    await service.client().get(path).expect(200);
    await admin.put(`/api/admin/products/${hidden}/availability`).send({ available: false }).expect(200);
    expectFailure(await service.client().get(path), 404, MESSAGES.notFound);
    expectFailure(await service.client().setCookie('accessToken', 'x').get(path), 404, MESSAGES.notFound);
    await admin.get(path).expect(200);
  });

  it('cannot be changed without an access cookie, which orders require too', async () => {
    const anyone = service.client();
    expectFailure(await anyone.delete(`/api/products/${product.id}`), 401, MESSAGES.missingAccessToken);
    expectFailure(await anyone.get('/api/orders'), 401, MESSAGES.missingAccessToken);
  });
});
