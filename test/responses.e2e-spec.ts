import request from 'supertest';
import { gzipSync } from 'node:zlib';
import { expectFailure, MESSAGES } from './support/failure.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

const KIB = 1024;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

/** Logs in with a raw body, as JSON by default. */
function post(body: string | Buffer, headers: Record<string, string> = {}) {
  const test = request(service.url)
    .post('/api/login')
    .set({ 'Content-Type': 'application/json', ...headers });
  return test.serialize((sent: unknown) => sent as string).send(body as unknown as object);
}

const REQUIRED = { email: 'email is required', password: 'password is required' };

describe('a failing response', () => {
  it('is 404 in the fail envelope for an unknown path or method', async () => {
    for (const path of ['/api/nothing', '/nothing', '/api/products/1/2', '/api/register'])
      expectFailure(await request(service.url).get(path), 404, MESSAGES.notFound);
    expectFailure(await request(service.url).delete('/api/login'), 404, MESSAGES.notFound);
  });

  it.each(['/api/products/%ZZ', '/api/images/%E0%A4%A', '/%ZZ', '/api/%'])(
    'is 400 or 404 in the fail envelope for the malformed path %s',
    async (path) => {
      const response = await request(service.url).get(path);
      if (response.status === 404) expectFailure(response, 404, MESSAGES.notFound);
      else expectFailure(response, 400, MESSAGES.malformedRequest);
    },
  );

  it.each([
    ['cut short', '{"email":"a@example.com"'],
    ['not JSON', 'email=a@example.com'],
    ['null', 'null'],
  ])('is 400 for malformed JSON: %s', async (_what, body) => {
    expectFailure(await post(body), 400, MESSAGES.malformedRequest);
  });

  it('is 400 for malformed JSON before the cookie is checked (contract 10.9)', async () => {
    const response = await request(service.url).post('/api/orders').type('json').send('{');
    expectFailure(response, 400, MESSAGES.malformedRequest);
  });

  it.each([
    ['an empty body', 'application/json', ''],
    ['a list of logins', 'application/json', '[{"email":"a@example.com","password":"x"}]'],
    ['a form', 'application/x-www-form-urlencoded', 'email=a%40example.com&password=x'],
    [
      'a multipart form',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\na@example.com\r\n--x--\r\n',
    ],
  ])('reports every field as missing for %s', async (_what, contentType, body) => {
    expectFailure(await post(body, { 'Content-Type': contentType }), 400, MESSAGES.validation, REQUIRED);
  });

  it('is 413 for JSON over 100 KiB', async () => {
    expectFailure(await post('{}'.padEnd(100 * KIB)), 400, MESSAGES.validation, REQUIRED);
    expectFailure(await post('{}'.padEnd(100 * KIB + 1)), 413, MESSAGES.tooLarge);
  });

  it('is 413 for a compressed body over 100 KiB after decompression', async () => {
    const bomb = gzipSync(`{"padding":"${'x'.repeat(5 * KIB * KIB)}"}`);
    expect(bomb.length).toBeLessThan(20 * KIB);
    expectFailure(await post(bomb, { 'Content-Encoding': 'gzip' }), 413, MESSAGES.tooLarge);
    const small = await post(gzipSync('{"email":"a@example.com"}'), { 'Content-Encoding': 'gzip' });
    expectFailure(small, 400, MESSAGES.validation, { password: 'password is required' });
  });

  it('is 400 for a body that does not have the declared encoding', async () => {
    for (const encoding of ['gzip', 'deflate', 'br']) {
      const response = await post('{"no":"compression"}', { 'Content-Encoding': encoding });
      expectFailure(response, 400, MESSAGES.malformedRequest);
    }
  });

  it('is 415 for an unknown encoding or character set', async () => {
    const message = 'content encoding or character set is not supported';
    for (const headers of [
      { 'Content-Encoding': 'zstandard' },
      { 'Content-Type': 'application/json; charset=utf-99' },
    ])
      expectFailure(await post('{}', headers), 415, message);
  });
});

describe('a bug in the service', () => {
  it('is a 500 without details; the log contains them with the id of the request', async () => {
    const broken = await startService();
    try {
      await broken.database.pool.query('ALTER TABLE sessions RENAME COLUMN expires_at TO elsewhere');
      const ids = Array.from({ length: 8 }, (_, index) => `request-${index}`);
      const register = (id: string) => broken.client().register().set('X-Request-Id', id);
      for (const response of await Promise.all(ids.map(register)))
        expectFailure(response, 500, MESSAGES.unexpected);
      for (const id of ids) {
        const lines = await until(`both lines of ${id}`, () => {
          const found = broken.log.filter(({ requestId }) => requestId === id);
          return found.length >= 2 && found;
        });
        expect(lines.map(({ msg }) => msg)).toContain('request');
        expect(lines.map(({ context }) => context)).toContain('Failure');
        expect(JSON.stringify(lines)).toMatch(/column .*expires_at.* does not exist/);
      }
    } finally {
      await broken.stop();
    }
  });
});

describe('X-Request-Id', () => {
  it('is generated if the caller sends none', async () => {
    const ids = [];
    for (const path of ['/api/users', '/api/login', '/nothing', '/api/health/live', '/api/docs-json']) {
      const id = (await request(service.url).get(path)).headers['x-request-id'];
      expect(id).toMatch(UUID);
      ids.push(id);
    }
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(['7', 'a-Sane.Token_1:2', 'x'.repeat(128)])(
    'is the well-formed id that the caller sent: %s',
    async (id) => {
      const response = await request(service.url).get('/api/users').set('X-Request-Id', id);
      expect(response.headers['x-request-id']).toBe(id);
    },
  );

  it.each(['', 'two words', 'x'.repeat(129), '<script>', 'é', '${jndi:ldap://x}'])(
    'is generated if the caller sends a malformed id: %j',
    async (id) => {
      const response = await request(service.url)
        .get('/api/users')
        .set('X-Request-Id', Buffer.from(id).toString('latin1'));
      expect(response.headers['x-request-id']).toMatch(UUID);
    },
  );
});

describe('the headers of a response', () => {
  it.each(['/api/users', '/nothing', '/api/health/live'])(
    "%s carries helmet's headers and does not name its framework",
    async (path) => {
      const { headers } = await request(service.url).get(path);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'SAMEORIGIN',
        'strict-transport-security': expect.stringContaining('max-age=') as string,
        'content-security-policy': expect.stringContaining("default-src 'self'") as string,
      });
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('server');
    },
  );

  it('allow only private caches with revalidation on protected paths', async () => {
    const customer = await service.customer();
    const responses = [
      await customer.get('/api/users').expect(200),
      await customer.get('/api/products').expect(404),
      await customer.post('/api/products').expect(403),
      await service.client().get('/api/users').expect(401),
      await service.client().setCookie('accessToken', 'x').get('/api/users').expect(400),
    ];
    for (const { headers } of responses) expect(headers['cache-control']).toBe('private, no-cache');
  });

  it('never contain a rate limit, and no response is 429 (contract 8)', async () => {
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => request(service.url).get('/api/users')),
    );
    for (const { status, headers } of responses) {
      expect(status).toBe(401);
      expect(Object.keys(headers as object).join()).not.toMatch(/rate-?limit|retry-after/i);
    }
  });
});

describe('the log', () => {
  it('has one line for each request, with method, path without query, status and time', async () => {
    await request(service.url).get('/api/users?token=in-the-query').set('X-Request-Id', 'one-line');
    const line = await until('the log line', () =>
      service.log.find(({ requestId }) => requestId === 'one-line'),
    );
    expect(line).toMatchObject({
      req: { method: 'GET', path: '/api/users' },
      res: { status: 401 },
      durationMs: expect.any(Number) as number,
    });
  });
});
