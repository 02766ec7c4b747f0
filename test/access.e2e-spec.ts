import request, { type Response } from 'supertest';
import { expectFailure, MESSAGES } from './support/failure.js';
import { isDocumentation, type Route, routesOf } from './support/routes.js';
import { startService, type TestService } from './support/service.js';
import { expiredToken, goodClaims, signToken } from './support/tokens.js';

/**
 * Every route that a caller without an access cookie may use. A route that is missing here and open fails the
 * test: opening one is a decision, made here as well.
 */
const PUBLIC = [
  'POST /api/register',
  'POST /api/login',
  'GET /api/refresh',
  'POST /api/logout',
  'POST /api/password/forgot',
  'POST /api/password/reset',
  'POST /api/products/payments',
  'GET /api/simulator/:token',
  'POST /api/simulator/:token/:action',
  'GET /api/images/:name',
  'GET /api/health/live',
  'GET /api/health/ready',
];
/** What only administrators may do (contract 4 and 5). */
const ADMIN_ONLY = [
  'POST /api/products',
  'PUT /api/products/:product_id',
  'DELETE /api/products/:product_id',
  'GET /api/admin/orders',
  'GET /api/admin/orders/:order_id',
  'PUT /api/admin/orders/:order_id/fulfilment',
];

const MALFORMED_FORMS = [
  ['multipart/form-data; boundary=x', '--x\r\nno header'],
  ['multipart/form-data', 'no boundary'],
] as const;

/** With its name as in the lists above. */
type NamedRoute = Route & { readonly name: string };

let service: TestService;
let routes: NamedRoute[];

beforeAll(async () => {
  service = await startService();
  routes = routesOf(service).map((route) => ({
    ...route,
    name: `${route.method.toUpperCase()} ${route.path}`,
  }));
});

afterAll(() => service.stop());

function isPublic({ name, path }: NamedRoute): boolean {
  return PUBLIC.includes(name) || isDocumentation(path);
}

/** Calls a route with an empty body and with malformed forms, which are read after the guards. */
async function callAll({ method, path }: NamedRoute, cookie?: string): Promise<Response[]> {
  const url = path.replaceAll(/:\w+/g, '1');
  const call = () => {
    const test = request(service.url)[method](url);
    return cookie === undefined ? test : test.set('Cookie', `accessToken=${cookie}`);
  };
  if (method === 'get') return [await call()];
  const calls = MALFORMED_FORMS.map(([type, body]) =>
    call()
      .set('Content-Type', type)
      .serialize(String)
      .send(body as unknown as object),
  );
  return Promise.all([call(), ...calls]);
}

async function expectOfEach(
  chosen: readonly NamedRoute[],
  cookie: string | undefined,
  status: number,
  message: string,
): Promise<void> {
  expect(chosen.length).toBeGreaterThan(0);
  for (const route of chosen) {
    for (const response of await callAll(route, cookie)) {
      expect({ route: route.name, status: response.status }).toEqual({ route: route.name, status });
      expectFailure(response, status, message);
      expect(response.headers['cache-control']).toBe('private, no-cache');
    }
  }
}

describe('access to the routes of the running service', () => {
  it('the routes that are open to anyone are those listed here and no others', async () => {
    const open: NamedRoute[] = [];
    for (const route of routes) {
      const [response] = await callAll(route);
      const { errors } = (response?.body ?? {}) as { errors?: { message?: string } };
      if (errors?.message !== MESSAGES.missingAccessToken) open.push(route);
    }
    expect(
      open
        .filter(({ path }) => !isDocumentation(path))
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...PUBLIC].sort());
  });

  it.each([
    ['without the access cookie: 401', undefined, 401, MESSAGES.missingAccessToken],
    ['with an expired one: 401', () => expiredToken({ role: 'ADMIN' }), 401, MESSAGES.missingAccessToken],
    ['with a malformed one: 400', () => 'rubbish', 400, MESSAGES.malformedAccessToken],
    [
      'with an unsigned one: 400',
      () => signToken(goodClaims({ role: 'ADMIN' }), { algorithm: 'none' }),
      400,
      MESSAGES.malformedAccessToken,
    ],
  ])(
    'every other one is closed %s, before a form is read (contract 4.4)',
    async (_what, cookie, status, message) => {
      const closed = routes.filter((route) => !isPublic(route));
      await expectOfEach(closed, cookie?.(), status, message);
    },
  );

  it('every admin route is 403 for a USER, before the body is read', async () => {
    const adminRoutes = routes.filter(
      ({ name, path }) => ADMIN_ONLY.includes(name) || path.startsWith('/api/admin/'),
    );
    await expectOfEach(adminRoutes, signToken(goodClaims()), 403, MESSAGES.adminOnly);
  });

  it('a USER is held back from no other route', async () => {
    const open = routes.filter(
      ({ name, path }) => !ADMIN_ONLY.includes(name) && !path.startsWith('/api/admin/'),
    );
    for (const route of open)
      for (const response of await callAll(route, signToken(goodClaims())))
        expect({ route: route.name, status: response.status }).not.toEqual({
          route: route.name,
          status: 403,
        });
  });

  it('HEAD is held to what GET is', async () => {
    for (const route of routes.filter((candidate) => candidate.method === 'get' && !isPublic(candidate)))
      await request(service.url).head(route.path.replaceAll(/:\w+/g, '1')).expect(401);
  });
});
