import { importBuilt, importPackage } from './support/built.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { createProduct } from './support/products.js';
import { useService } from './support/service.js';
import { startBeforeTests } from './support/start-before-tests.js';
import { expiredToken } from './support/tokens.js';

const service = useService({ settings: { CATALOG_ACCESS: 'public' } });
const product = startBeforeTests(async () => createProduct(await service.admin()));

describe('with CATALOG_ACCESS=public, the catalog', () => {
  // ProductListMiddleware answers the first path, from its cache if repeated. The controller handles the other two.
  const paths = () => ['/api/products', '/api/products?q=', `/api/products/${product.id}`];
  const invalidPaths = ['/api/products?last_id=x', `/api/products?q=${'x'.repeat(101)}`];

  it.each([
    ['no', undefined],
    ['an expired', expiredToken()],
    ['a malformed', 'a.b.c'],
    ['an empty', ''],
  ])('is available with %s access cookie, and no response is marked private', async (_what, cookie) => {
    const client = service.client();
    if (cookie !== undefined) client.setCookie('accessToken', cookie);
    for (const path of [...paths(), ...paths()]) {
      const { headers } = await client.get(path).expect(200).expect('Cache-Control', 'no-cache');
      await client.get(path).set('If-None-Match', String(headers.etag)).expect(304);
    }
    for (const path of invalidPaths) await client.get(path).expect(400).expect('Cache-Control', 'no-cache');
  });

  it('is marked private in a response to a valid access cookie', async () => {
    const customer = await service.customer();
    for (const path of [...paths(), ...paths()])
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

  it('cannot be changed without an access cookie, which orders and the profile require too', async () => {
    const anyone = service.client();
    for (const response of [
      await anyone.delete(`/api/products/${product.id}`),
      await anyone.post('/api/products'),
      await anyone.get('/api/orders'),
      await anyone.get('/api/users'),
    ])
      expectFailure(response, 401, MESSAGES.missingAccessToken);
  });
});

it('the product list has no guard, interceptor or pipe except those that ProductListMiddleware may skip', async () => {
  const { ProductsController, LIST_ACCESS } = await importBuilt('src/products/products.controller.js');
  const { Access } = await importBuilt('src/common/access.decorator.js');
  const { Reflector } = await importPackage('@nestjs/core');
  const reflector = service.app.get(Reflector);
  const { list } = ProductsController.prototype as unknown as { readonly list: () => unknown };
  // Nest stores global enhancers in its private configuration, and those of a route or controller as metadata.
  const { config } = service.app as unknown as {
    readonly config: Readonly<Record<string, () => readonly object[]>>;
  };
  const listGlobals = (kind: string): string[] =>
    (config[`getGlobal${kind}`]?.call(config) ?? []).map((enhancer) => enhancer.constructor.name);

  for (const kind of ['guards', 'interceptors', 'pipes'])
    for (const target of [list, ProductsController])
      expect(reflector.get<unknown[] | undefined>(`__${kind}__`, target) ?? []).toEqual([]);
  // The middleware checks the access `catalog` like JwtCookieGuard does. AdminGuard only checks the access `admin`.
  expect(listGlobals('Guards')).toEqual(['JwtCookieGuard', 'AdminGuard']);
  // The page that the middleware sends already contains the success envelope.
  expect(listGlobals('Interceptors')).toEqual(['SuccessEnvelopeInterceptor']);
  // The middleware leaves every URL whose query may be invalid to the controller.
  expect(listGlobals('Pipes')).toEqual(['DtoValidationPipe']);
  expect(reflector.get(Access, list)).toBe(LIST_ACCESS);
  expect(LIST_ACCESS).toBe('catalog');
});
