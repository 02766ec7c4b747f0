import { built } from './support/built.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { createProduct } from './support/products.js';
import { startService, type TestService } from './support/service.js';
import { expiredToken } from './support/tokens.js';

let service: TestService;
let id: number;

beforeAll(async () => {
  service = await startService({ settings: { CATALOG_ACCESS: 'public' } });
  id = (await createProduct(await service.admin())).id;
});

afterAll(() => service.stop());

describe('with CATALOG_ACCESS=public, the catalog', () => {
  // The shortcut sends the first path, the controller handles the other two.
  const paths = () => ['/api/products', '/api/products?q=', `/api/products/${id}`];

  it('needs no cookie, and caches must revalidate it each time', async () => {
    for (const path of paths()) {
      const first = await service.client().get(path).expect(200).expect('Cache-Control', 'no-cache');
      const { etag = '' } = first.headers;
      expect([path, etag]).not.toEqual([path, '']);
      await service.client().get(path).set('If-None-Match', etag).expect(304);
    }
  });

  it.each([
    ['expired', () => expiredToken()],
    ['malformed', () => 'a.b.c'],
    ['empty', () => ''],
  ])('ignores an access cookie that is %s', async (_what, cookie) => {
    for (const path of paths())
      for (let time = 0; time < 2; time += 1)
        await service
          .client()
          .setCookie('accessToken', cookie())
          .get(path)
          .expect(200)
          .expect('Cache-Control', 'no-cache');
  });

  it('is not private in a failing response without a valid cookie', async () => {
    for (const path of ['/api/products?last_id=x', `/api/products?q=${'x'.repeat(101)}`])
      for (const client of [service.client(), service.client().setCookie('accessToken', 'a.b.c')])
        await client.get(path).expect(400).expect('Cache-Control', 'no-cache');
  });

  it('is private in a response to a valid access cookie', async () => {
    const customer = await service.customer();
    for (const path of paths())
      for (let time = 0; time < 2; time += 1)
        await customer.get(path).expect(200).expect('Cache-Control', 'private, no-cache');
  });

  it('is the only part that opens', async () => {
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
  /** Everything that Nest runs for the route besides the handler, with the shortcut's replacement. */
  const HANDLED = {
    guards: [
      'JwtCookieGuard', // AdmissionService.admit; the guard checks nothing else for access `catalog`.
      'AdminGuard', // The access of the list is not `admin`.
    ],
    interceptors: ['SuccessEnvelopeInterceptor'], // The page contains the envelope.
    pipes: ['DtoValidationPipe'], // PLAIN_URL matches valid queries only.
  };

  it('has a replacement for every guard, interceptor and pipe of the route', async () => {
    const { ProductsController, LIST_ACCESS } = await built('src/products/products.controller.js');
    const { Access } = await built('src/common/access.decorator.js');
    const { Reflector } = (await importPackage('@nestjs/core')) as typeof import('@nestjs/core');
    const reflector = service.app.get(Reflector);
    const { list } = ProductsController.prototype as unknown as { readonly list: () => unknown };
    const ofRoute = (kind: string): unknown[] =>
      [list, ProductsController].flatMap(
        (target) => reflector.get<unknown[] | undefined>(`__${kind}__`, target) ?? [],
      );
    const { config } = service.app as unknown as {
      readonly config: Readonly<Record<string, () => readonly object[]>>;
    };
    const global = (method: string): string[] =>
      (config[method]?.call(config) ?? []).map((enhancer) => enhancer.constructor.name);

    expect(ofRoute('guards')).toEqual([]);
    expect(ofRoute('interceptors')).toEqual([]);
    expect(ofRoute('pipes')).toEqual([]);
    expect({
      guards: global('getGlobalGuards'),
      interceptors: global('getGlobalInterceptors'),
      pipes: global('getGlobalPipes'),
    }).toEqual(HANDLED);
    expect(reflector.get(Access, list)).toBe(LIST_ACCESS);
    expect(LIST_ACCESS).toBe('catalog');
  });
});
