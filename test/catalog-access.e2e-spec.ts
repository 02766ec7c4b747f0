import { built } from './support/built.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { createProduct } from './support/products.js';
import { useService } from './support/service.js';
import { expiredToken } from './support/tokens.js';

const service = useService({ settings: { CATALOG_ACCESS: 'public' } });
let id: number;

beforeAll(async () => {
  id = (await createProduct(await service.admin())).id;
});

describe('with CATALOG_ACCESS=public, the catalog', () => {
  // ProductListMiddleware answers the first path, from its cache if repeated. The controller handles the other two.
  const paths = () => ['/api/products', '/api/products?q=', `/api/products/${id}`];

  it('needs no cookie, and caches must revalidate it each time', async () => {
    for (const path of paths()) {
      const first = await service.client().get(path).expect(200).expect('Cache-Control', 'no-cache');
      await service.client().get(path).set('If-None-Match', String(first.headers.etag)).expect(304);
    }
  });

  it.each([
    ['expired', () => expiredToken()],
    ['malformed', () => 'a.b.c'],
    ['empty', () => ''],
  ])('ignores an access cookie that is %s', async (_what, cookie) => {
    const client = service.client().setCookie('accessToken', cookie());
    for (const path of [...paths(), ...paths()])
      await client.get(path).expect(200).expect('Cache-Control', 'no-cache');
  });

  it('is not marked private in a failing response without a valid cookie', async () => {
    for (const path of ['/api/products?last_id=x', `/api/products?q=${'x'.repeat(101)}`])
      for (const client of [service.client(), service.client().setCookie('accessToken', 'a.b.c')])
        await client.get(path).expect(400).expect('Cache-Control', 'no-cache');
  });

  it('is marked private in a response to a valid access cookie', async () => {
    const customer = await service.customer();
    for (const path of [...paths(), ...paths()])
      await customer.get(path).expect(200).expect('Cache-Control', 'private, no-cache');
  });

  it('hides an unavailable product from everyone but administrators', async () => {
    const admin = await service.admin();
    const { id: hidden } = await createProduct(admin);
    const path = `/api/products/${hidden}`;
    await service.client().get(path).expect(200);
    await admin.put(`/api/admin/products/${hidden}/availability`).send({ available: false }).expect(200);
    expectFailure(await service.client().get(path), 404, MESSAGES.notFound);
    expectFailure(await service.client().setCookie('accessToken', 'x').get(path), 404, MESSAGES.notFound);
    await admin.get(path).expect(200);
  });

  it('is the only part of the service that needs no cookie', async () => {
    const anyone = service.client();
    for (const response of [
      await anyone.delete(`/api/products/${id}`),
      await anyone.post('/api/products'),
      await anyone.get('/api/orders'),
      await anyone.get('/api/users'),
    ])
      expectFailure(response, 401, MESSAGES.missingAccessToken);
  });
});

describe('the shortcut of the product list', () => {
  it('has a replacement for every guard, interceptor and pipe of the route', async () => {
    const { ProductsController, LIST_ACCESS } = await built('src/products/products.controller.js');
    const { Access } = await built('src/common/access.decorator.js');
    const { Reflector } = (await importPackage('@nestjs/core')) as typeof import('@nestjs/core');
    const reflector = service.app.get(Reflector);
    const { list } = ProductsController.prototype as unknown as { readonly list: () => unknown };
    const { config } = service.app as unknown as {
      readonly config: Readonly<Record<string, () => readonly object[]>>;
    };
    const listGlobals = (kind: string): string[] =>
      (config[`getGlobal${kind}`]?.call(config) ?? []).map((enhancer) => enhancer.constructor.name);

    for (const kind of ['guards', 'interceptors', 'pipes'])
      for (const target of [list, ProductsController])
        expect(reflector.get<unknown[] | undefined>(`__${kind}__`, target) ?? []).toEqual([]);
    // The shortcut checks the access `catalog` like JwtCookieGuard does. AdminGuard only checks the access `admin`.
    expect(listGlobals('Guards')).toEqual(['JwtCookieGuard', 'AdminGuard']);
    // The page that the shortcut sends already contains the success envelope.
    expect(listGlobals('Interceptors')).toEqual(['SuccessEnvelopeInterceptor']);
    // The shortcut leaves every URL whose query may be invalid to the controller.
    expect(listGlobals('Pipes')).toEqual(['DtoValidationPipe']);
    expect(reflector.get(Access, list)).toBe(LIST_ACCESS);
    expect(LIST_ACCESS).toBe('catalog');
  });
});
