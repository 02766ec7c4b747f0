import request from 'supertest';
import { expectFailure, MESSAGES } from './support/failure.js';
import type { Client } from './support/client.js';
import { sendRaw } from './support/raw-http.js';
import { type Route, routesOf } from './support/routes.js';
import { startService, type TestService } from './support/service.js';

const OWN = 'https://bakery.example';
const SHOP = 'https://shop.example';
const SHOP_WITH_PORT = 'http://shop.example:8080';

const STRANGERS = [
  'https://evil.example',
  'null',
  'https://shop.example.evil.example',
  'https://shop.example:8443',
  'http://shop.example',
  'HTTPS://SHOP.EXAMPLE',
  'http://localhost:5173',
  `${SHOP}, https://evil.example`,
];

/** Content types that a form can send without a preflight (Fetch standard, CORS-safelisted request-header). */
const FORM_BODIES = [
  ['text/plain', '{"name":"x","="x"}'],
  ['application/x-www-form-urlencoded', 'name=x&__proto__[x]=y'],
  [
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--x--\r\n',
  ],
] as const;

let service: TestService;
let customer: Client;

beforeAll(async () => {
  service = await startService({
    settings: { PUBLIC_URL: `${OWN}/shop/`, CORS_ORIGINS: `${SHOP}, ${SHOP_WITH_PORT}` },
  });
  customer = await service.customer();
});

afterAll(() => service.stop());

function preflight(url: string, origin: string, method = 'PUT', headers = 'content-type') {
  return request(url)
    .options('/api/products/1')
    .set('Origin', origin)
    .set('Access-Control-Request-Method', method)
    .set('Access-Control-Request-Headers', headers);
}

describe('a page of a listed origin', () => {
  it.each([SHOP, SHOP_WITH_PORT])(
    'of %s can read responses with credentials (contract 10.7)',
    async (origin) => {
      const response = await customer.get('/api/users').set('Origin', origin).expect(200);
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'X-Request-Id,ETag',
      });
    },
  );

  it('can read failing responses', async () => {
    const anyone = service.client();
    const large = { padding: 'x'.repeat(110_000) };
    const responses = [
      await anyone.get('/api/users').set('Origin', SHOP).expect(401),
      await anyone.get('/nothing').set('Origin', SHOP).expect(404),
      await anyone.post('/api/login').set('Origin', SHOP).send(large).expect(413),
      await anyone.get('/api/products/%ZZ').set('Origin', SHOP).expect(400),
    ];
    for (const { headers } of responses) expect(headers['access-control-allow-origin']).toBe(SHOP);
  });

  it('may send every method, and browsers cache the preflight response for 10 minutes', async () => {
    const { headers } = await preflight(service.url, SHOP).expect(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': SHOP,
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '600',
    });
    const methods = headers['access-control-allow-methods']?.split(',');
    expect(methods).toEqual(expect.arrayContaining(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']));
  });

  it.each([OWN, SHOP])('of %s may change something', async (origin) => {
    await service.client().post('/api/login').set('Origin', origin).send({}).expect(400);
  });
});

describe('a page of another origin', () => {
  it.each(STRANGERS)('of %j can neither read nor change anything (contract 10.8)', async (origin) => {
    const read = await customer.get('/api/users').set('Origin', origin).expect(200);
    const preflighted = await preflight(service.url, origin);
    for (const { headers } of [read, preflighted])
      expect(Object.keys(headers as object).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    const email = `forged-${STRANGERS.indexOf(origin)}@example.com`;
    const response = await service.client().register({ email }).set('Origin', origin);
    expectFailure(response, 403, MESSAGES.origin);
    expect(response.headers).not.toHaveProperty('set-cookie');
    const { rows } = await service.database.pool.query('SELECT 1 FROM users WHERE email = $1', [email]);
    expect(rows).toEqual([]);
  });

  it('is rejected if it is one of two Origin headers', async () => {
    for (const [first, second] of [
      [SHOP, 'https://evil.example'],
      ['https://evil.example', SHOP],
    ] as const) {
      const [response] = await sendRaw(
        service.url,
        `POST /api/logout HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: ${first}\r\nOrigin: ${second}\r\nContent-Length: 0\r\n\r\n`,
      );
      expect([response?.status, response?.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    }
  });
});

it('a page of the host that a request was sent to is allowed, with the scheme of PUBLIC_URL (contract 10.8)', async () => {
  const { host } = new URL(service.url);
  const login = (origin: string) => service.client().post('/api/login').set('Origin', origin).send({});
  await login(`https://${host}`).expect(400);
  expectFailure(await login(`http://${host}`), 403, MESSAGES.origin);
});

it('a request without Origin, such as a notification of the gateway, is allowed', async () => {
  await service.client().post('/api/products/payments').send({}).expect(400);
});

it('every response varies by Origin, so that no cache returns it to a page of another origin', async () => {
  for (const response of [
    await customer.get('/api/users'),
    await customer.get('/api/users').set('Origin', SHOP),
    await customer.get('/api/users').set('Origin', 'https://evil.example'),
    await service.client().get('/api/images/none.png'),
  ])
    expect(response.headers.vary).toMatch(/\bOrigin\b/);
});

describe('every route that changes something', () => {
  let routes: readonly Route[];
  let admin: Client;

  beforeAll(async () => {
    routes = routesOf(service).filter(({ method }) => method !== 'get');
    expect(routes.length).toBeGreaterThan(15);
    admin = await service.admin();
  });

  const urlOf = ({ path }: Route): string => path.replaceAll(/:\w+/g, '1');

  /** Contents of every table that a request may change. */
  async function stored(): Promise<unknown> {
    const { rows } = await service.database.pool.query<{ all: string }>(`SELECT md5(concat(
      (SELECT string_agg(t::text, '' ORDER BY t::text) FROM users t),
      (SELECT string_agg(t::text, '' ORDER BY t::text) FROM products t),
      (SELECT string_agg(t::text, '' ORDER BY t::text) FROM orders t),
      (SELECT string_agg(t::text, '' ORDER BY t::text) FROM attempt_counts t))) AS all`);
    return rows;
  }

  it('rejects every form post of a foreign page, even with the cookies of an administrator', async () => {
    const before = await stored();
    for (const route of routes)
      for (const [type, body] of FORM_BODIES)
        for (const origin of ['https://evil.example', 'null']) {
          const response = await admin[route.method](urlOf(route))
            .set('Origin', origin)
            .set('Content-Type', type)
            .send(body);
          expectFailure(response, 403, MESSAGES.origin);
          expect(response.headers).not.toHaveProperty('set-cookie');
          expect(response.headers).not.toHaveProperty('access-control-allow-origin');
          expect(response.headers.vary).toMatch(/\bOrigin\b/);
        }
    expect(await stored()).toEqual(before);
  });
});

describe('the default of CORS_ORIGINS', () => {
  it('in development allows only loopback origins', async () => {
    const development = await startService({ settings: { NODE_ENV: 'development' } });
    try {
      for (const origin of ['http://localhost:5173', 'http://127.0.0.1:8080', 'http://localhost']) {
        const { headers, status } = await preflight(development.url, origin);
        expect([status, headers['access-control-allow-origin']]).toEqual([204, origin]);
        await development.client().post('/api/login').set('Origin', origin).send({}).expect(400);
      }
      for (const origin of [
        'http://localhost.evil.example',
        'http://localhost:5173.evil.example',
        'http://127.0.0.2',
        SHOP,
      ]) {
        const { headers } = await preflight(development.url, origin);
        expect(headers).not.toHaveProperty('access-control-allow-origin');
        const response = await development.client().post('/api/login').set('Origin', origin).send({});
        expectFailure(response, 403, MESSAGES.origin);
      }
    } finally {
      await development.stop();
    }
  });
});
