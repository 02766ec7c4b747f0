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
  '',
  'https://shop.example.evil.example',
  'https://sub.shop.example',
  'https://shop.example:8443',
  'http://shop.example',
  'https://shop.example@evil.example',
  'HTTPS://SHOP.EXAMPLE',
  'http://localhost:5173',
  `${SHOP}, https://evil.example`,
];

/** What a form of a foreign page can send without a preflight (Fetch standard, CORS-safelisted request-header). */
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

afterAll(async () => {
  await service.stop();
});

function preflight(url: string, origin: string, method = 'PUT', headers = 'content-type') {
  return request(url)
    .options('/api/products/1')
    .set('Origin', origin)
    .set('Access-Control-Request-Method', method)
    .set('Access-Control-Request-Headers', headers);
}

describe('reading across origins', () => {
  it.each([SHOP, SHOP_WITH_PORT])(
    'a page of the listed origin %s may read answers, with credentials',
    async (origin) => {
      const response = await customer.get('/api/users').set('Origin', origin).expect(200);
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'X-Request-Id,ETag',
      });
      expect(response.headers.vary).toMatch(/\bOrigin\b/);
    },
  );

  it('it may read failures as well: 400, 401, 403, 404, 413 and a malformed path', async () => {
    const answers = [
      await service.client().post('/api/login').set('Origin', SHOP).send({}).expect(400),
      await service.client().get('/api/users').set('Origin', SHOP).expect(401),
      await customer.delete('/api/products/1').set('Origin', SHOP).expect(403),
      await service.client().get('/api/nothing').set('Origin', SHOP).expect(404),
      await service.client().get('/nothing').set('Origin', SHOP).expect(404),
      await service
        .client()
        .post('/api/login')
        .set('Origin', SHOP)
        .send({ padding: 'x'.repeat(110_000) })
        .expect(413),
      await service.client().get('/api/products/%ZZ').set('Origin', SHOP).expect(400),
    ];
    for (const { headers } of answers) expect(headers['access-control-allow-origin']).toBe(SHOP);
  });

  it.each(STRANGERS)('a page of %j may not', async (origin) => {
    const response = await customer.get('/api/users').set('Origin', origin).expect(200);
    expect(response.headers).not.toHaveProperty('access-control-allow-origin');
    expect(response.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('an answer without CORS headers varies by Origin too, so that no cache hands it to a storefront', async () => {
    for (const answer of [
      await customer.get('/api/users'),
      await customer.get('/api/users').set('Origin', 'https://evil.example'),
      await service.client().get('/api/images/none.png'),
    ])
      expect(answer.headers.vary).toMatch(/\bOrigin\b/);
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'a preflight of a listed origin allows %s with credentials',
    async (method) => {
      const response = await preflight(service.url, SHOP, method);
      expect(response.status).toBe(204);
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': SHOP,
        'access-control-allow-credentials': 'true',
        'access-control-allow-headers': 'content-type',
        'access-control-max-age': '600',
      });
      expect(response.headers['access-control-allow-methods']?.split(',')).toContain(method);
      expect(response.headers).toHaveProperty('x-request-id');
    },
  );

  it.each(STRANGERS)('a preflight of %j allows nothing', async (origin) => {
    const { headers } = await preflight(service.url, origin);
    expect(Object.keys(headers as object).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });
});

describe('changing state across origins', () => {
  it.each([OWN, SHOP, SHOP_WITH_PORT])('a request of a page of %s passes', async (origin) => {
    const response = await service.client().post('/api/login').set('Origin', origin).send({});
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ errors: { message: 'validation error' } });
  });

  it('a request of a page of the address that it is sent to passes, with the scheme of PUBLIC_URL (contract 10.8)', async () => {
    const { host } = new URL(service.url);
    const login = (origin: string) => service.client().post('/api/login').set('Origin', origin).send({});
    await login(`https://${host}`).expect(400);
    expectFailure(await login(`http://${host}`), 403, MESSAGES.origin);
  });

  it('a request without Origin passes: curl, the payment gateway', async () => {
    await service.client().post('/api/login').send({}).expect(400);
    expectFailure(
      await service.client().post('/api/products/payments').send({}).expect(400),
      400,
      MESSAGES.validation,
      expect.any(Object) as Record<string, string>,
    );
  });

  it.each(STRANGERS)('a request of a page of %j is 403 and changes nothing', async (origin) => {
    const email = `forged-${STRANGERS.indexOf(origin)}@example.com`;
    const response = await service.client().register({ email }).set('Origin', origin);
    expectFailure(response, 403, MESSAGES.origin);
    expect(response.headers).not.toHaveProperty('set-cookie');
    const { rows } = await service.database.pool.query('SELECT 1 FROM users WHERE email = $1', [email]);
    expect(rows).toEqual([]);
  });

  it.each(['post', 'put', 'patch', 'delete'] as const)(
    '%s is held to it on every path, known or not',
    async (method) => {
      for (const path of ['/api/products/1', '/api/nothing', '/nothing', '/api/products/payments'])
        expectFailure(
          await service.client()[method](path).set('Origin', 'https://evil.example'),
          403,
          MESSAGES.origin,
        );
    },
  );

  it('reading is not: a GET of any origin is served, without CORS headers', async () => {
    await customer.get('/api/users').set('Origin', 'https://evil.example').expect(200);
    await request(service.url).head('/api/health/live').set('Origin', 'null').expect(200);
  });

  it('a header that overrides the method opens no way round', async () => {
    const admin = await service.admin();
    const response = await admin
      .get('/api/products/1')
      .set('Origin', 'https://evil.example')
      .set('X-HTTP-Method-Override', 'DELETE');
    expectFailure(response, 404, MESSAGES.notFound);
  });
});

describe('every state-changing route of the router', () => {
  let routes: readonly Route[];
  let admin: Client;

  beforeAll(async () => {
    routes = routesOf(service).filter(({ method }) => method !== 'get');
    expect(routes.length).toBeGreaterThan(15);
    admin = await service.admin();
  });

  const urlOf = ({ path }: Route): string => path.replaceAll(/:\w+/g, '1');

  /** Everything in the tables that a request may change, counts of guesses included. */
  async function stored(): Promise<unknown> {
    const { rows } = await service.database.pool.query<{ all: string }>(`SELECT md5(concat(
      (SELECT string_agg(t::text, '' ORDER BY t::text) FROM users t),
      (SELECT string_agg(t::text, '' ORDER BY t::text) FROM products t),
      (SELECT string_agg(t::text, '' ORDER BY t::text) FROM orders t),
      (SELECT string_agg(t::text, '' ORDER BY t::text) FROM attempt_counts t))) AS all`);
    return rows;
  }

  it('refuses every form post of a foreign page, with the cookies of an administrator', async () => {
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

  it('lets a call without Origin and one of a listed page through', async () => {
    for (const route of routes)
      for (const headers of [
        {},
        { Origin: SHOP },
        { Origin: OWN },
        { Referer: 'https://evil.example/page' },
      ]) {
        const { status, text } = await request(service.url)[route.method](urlOf(route)).set(headers);
        expect({ ...route, isRefused: text.includes(MESSAGES.origin) }).toEqual({
          ...route,
          isRefused: false,
        });
        expect(status).not.toBe(500);
      }
  });

  it('answers preflights of listed origins alone', async () => {
    for (const { method, path } of routes)
      for (const origin of [SHOP, 'https://shop.example.evil.example', 'null']) {
        const { headers, status } = await request(service.url)
          .options(urlOf({ method, path }))
          .set('Origin', origin)
          .set('Access-Control-Request-Method', method.toUpperCase());
        const { vary, ...others } = headers as Record<string, string>;
        if (origin === SHOP) expect(status).toBe(204);
        expect(vary).toMatch(/\bOrigin\b/);
        expect(others['access-control-allow-origin']).toBe(origin === SHOP ? SHOP : undefined);
        expect(others['access-control-allow-credentials']).toBe(origin === SHOP ? 'true' : undefined);
      }
  });

  it('of two Origin headers no pair with a stranger in it passes', async () => {
    for (const [first, second] of [
      [SHOP, 'https://evil.example'],
      ['https://evil.example', SHOP],
    ] as const) {
      const [answer] = await sendRaw(
        service.url,
        `POST /api/logout HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: ${first}\r\nOrigin: ${second}\r\nContent-Length: 0\r\n\r\n`,
      );
      expect([answer?.status, answer?.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    }
  });
});

describe('the pages of the simulator', () => {
  it('vary by Origin as well as by Accept', async () => {
    const order = await orderOf(customer);
    const page = await request(service.url).get(order);
    expect(page.status).toBe(200);
    expect(page.headers.vary).toMatch(/\bOrigin\b/);
    expect(page.headers.vary).toMatch(/\bAccept\b/);
    expect(page.headers).not.toHaveProperty('access-control-allow-origin');
  });

  /** Orders something. @returns the path of the payment page */
  async function orderOf(client: Client): Promise<string> {
    const { rows } = await service.database.pool.query<{ id: number }>(
      `INSERT INTO products (name, description, price) VALUES ('Nastar', 'Pineapple', 1000) RETURNING id`,
    );
    const { body } = (await client
      .post('/api/orders')
      .send({ items: [{ product_id: rows[0]?.id, quantity: 1 }] })
      .expect(201)) as { body: { data: { order: { redirect_url: string } } } };
    return `/api/simulator/${body.data.order.redirect_url.split('/').at(-1) ?? ''}`;
  }
});

describe('the default of CORS_ORIGINS', () => {
  it('in development is every loopback origin, and those alone', async () => {
    const development = await startService({ settings: { NODE_ENV: 'development' } });
    try {
      for (const origin of ['http://localhost:5173', 'http://127.0.0.1:8080', 'http://localhost']) {
        const { headers, status } = await preflight(development.url, origin);
        expect({ status, allowed: headers['access-control-allow-origin'] }).toEqual({
          status: 204,
          allowed: origin,
        });
        await development.client().post('/api/login').set('Origin', origin).send({}).expect(400);
      }
      for (const origin of [
        'https://localhost:5173',
        'http://localhost.evil.example',
        'http://localhost:5173.evil.example',
        'http://127.0.0.1.evil.example',
        'http://127.0.0.2',
        'http://evil.example?http://localhost:1',
        'http://localhost:123456',
        SHOP,
      ]) {
        const { headers } = await preflight(development.url, origin);
        expect(headers).not.toHaveProperty('access-control-allow-origin');
        expectFailure(
          await development.client().post('/api/login').set('Origin', origin).send({}),
          403,
          MESSAGES.origin,
        );
      }
    } finally {
      await development.stop();
    }
  });

  it('in production is no origin', async () => {
    const production = await startService({
      settings: {
        NODE_ENV: 'production',
        PAYMENT_GATEWAY: 'midtrans',
        PUBLIC_URL: OWN,
      },
    });
    try {
      for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000', SHOP]) {
        expect((await preflight(production.url, origin)).headers).not.toHaveProperty(
          'access-control-allow-origin',
        );
        expectFailure(
          await production.client().post('/api/login').set('Origin', origin).send({}),
          403,
          MESSAGES.origin,
        );
      }
      await production.client().post('/api/login').set('Origin', OWN).send({}).expect(400);
    } finally {
      await production.stop();
    }
  });
});
