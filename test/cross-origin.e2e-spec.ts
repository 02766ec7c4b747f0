import request from 'supertest';
import { expectFailure, MESSAGES } from './support/failure.js';
import { listRoutes } from './support/routes.js';
import { type TestService, useService } from './support/service.js';

const OWN = 'https://bakery.example';
const SHOP = 'https://shop.example';
const EVIL = 'https://evil.example';
const HTTP_SHOP = 'http://shop.example:8080';

const STRANGERS = [
  EVIL,
  'null',
  'https://shop.example.evil.example',
  'https://shop.example:8443',
  'http://shop.example',
  'HTTPS://SHOP.EXAMPLE',
  'http://localhost:5173',
  `${SHOP}, ${EVIL}`,
];

/** Content types that a form can send without a preflight (Fetch standard, CORS-safelisted request-header). */
const FORM_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];

const service = await useService({
  settings: { PUBLIC_URL: `${OWN}/shop/`, CORS_ORIGINS: `${SHOP}, ${HTTP_SHOP}` },
});
const customer = await service.customer();

function preflight(url: string, origin: string) {
  return request(url)
    .options('/api/products/1')
    .set({ Origin: origin, 'Access-Control-Request-Method': 'PUT' })
    .set('Access-Control-Request-Headers', 'content-type,if-match');
}

/** Sends a login that gets 400 for its missing fields, but 403 if its origin may not change anything. */
function sendEmptyLogin(origin: string, target: TestService = service) {
  return target.client().post('/api/login').set('Origin', origin).send({});
}

describe('a page of an origin in CORS_ORIGINS', () => {
  it.each([
    [200, '/api/users'],
    [401, '/api/admin/shop'],
    [404, '/nothing'],
    [400, '/api/products/%ZZ'],
  ])(
    'can read a response with the status %i to a request with credentials (contract 10.7)',
    async (status, path) => {
      const sender = status === 401 ? service.client() : customer;
      for (const origin of [SHOP, HTTP_SHOP]) {
        const { headers } = await sender.get(path).set('Origin', origin).expect(status);
        expect(headers).toMatchObject({
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          'access-control-expose-headers': 'X-Request-Id,ETag',
          vary: expect.stringMatching(/\bOrigin\b/) as string,
        });
      }
    },
  );

  it('may send every method after a preflight, which browsers cache for 10 minutes', async () => {
    const { headers } = await preflight(service.url, SHOP).expect(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': SHOP,
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'content-type,if-match',
      'access-control-max-age': '600',
    });
    const methods = headers['access-control-allow-methods']?.split(',');
    expect(methods).toEqual(expect.arrayContaining(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']));
  });

  it('may change something', async () => {
    await sendEmptyLogin(SHOP).expect(400);
  });
});

describe('a page of another origin', () => {
  it.each(STRANGERS)('(%s) can neither read nor change anything (contract 10.8)', async (origin) => {
    const read = await customer.get('/api/users').set('Origin', origin).expect(200);
    const preflighted = await preflight(service.url, origin);
    for (const { headers } of [read, preflighted])
      expect(Object.keys(headers as object).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    const email = `forged-${STRANGERS.indexOf(origin)}@example.com`;
    const response = await service.client().register({ email }).set('Origin', origin);
    expectFailure(response, 403, MESSAGES.originNotAllowed);
    expect(response.headers).not.toHaveProperty('set-cookie');
    const rows = await service.database.query('SELECT 1 FROM users WHERE email = $1', [email]);
    expect(rows).toEqual([]);
  });
});

it('a page of the service itself may change something: its origin is PUBLIC_URL, or the host with the scheme of PUBLIC_URL (contract 10.8)', async () => {
  const { host } = new URL(service.url);
  await sendEmptyLogin(OWN).expect(400);
  await sendEmptyLogin(`https://${host}`).expect(400);
  expectFailure(await sendEmptyLogin(`http://${host}`), 403, MESSAGES.originNotAllowed);
});

it('every response varies by Origin, so that no cache returns it to a page of another origin', async () => {
  for (const response of [
    await customer.get('/api/users'),
    await customer.get('/api/users').set('Origin', EVIL),
    await service.client().get('/api/images/none.png'),
  ])
    expect(response.headers.vary).toMatch(/\bOrigin\b/);
});

it('every route that changes something rejects a form of another origin, even with the cookies of an administrator', async () => {
  const routes = listRoutes(service).filter(({ method }) => method !== 'get');
  expect(routes.length).toBeGreaterThan(15);
  const admin = await service.admin();
  for (const { method, path } of routes)
    for (const type of FORM_TYPES) {
      const form = admin[method](path.replaceAll(/:\w+/g, '1')).set({ Origin: EVIL, 'Content-Type': type });
      expectFailure(await form.send('name=x'), 403, MESSAGES.originNotAllowed);
    }
});

const development = await useService({ settings: { NODE_ENV: 'development' } });

it('in development, CORS_ORIGINS allows http origins of localhost and 127.0.0.1 by default, and no other origin', async () => {
  for (const origin of ['http://localhost:5173', 'http://127.0.0.1:8080', 'http://localhost']) {
    const { headers } = await preflight(development.url, origin).expect(204);
    expect(headers['access-control-allow-origin']).toBe(origin);
    await sendEmptyLogin(origin, development).expect(400);
  }
  const others = [
    'http://localhost.evil.example',
    'http://localhost:5173.evil.example',
    'http://127.0.0.2',
    'https://localhost:5173',
    SHOP,
  ];
  for (const origin of others) {
    const { headers } = await preflight(development.url, origin);
    expect([origin, headers['access-control-allow-origin']]).toEqual([origin, undefined]);
    expectFailure(await sendEmptyLogin(origin, development), 403, MESSAGES.originNotAllowed);
  }
});
