import { once } from 'node:events';
import type { Server } from 'node:http';
import { importBuilt } from './support/built.js';
import { buildFailure, MESSAGES } from './support/failure.js';
import { measureCpuMs, measureSlowness } from './support/measure.js';
import { CAKE, createProduct } from './support/products.js';
import { openSocket, sendRaw } from './support/raw-http.js';
import { useService } from './support/service.js';
import { until } from './support/wait.js';

const HOST = 'Host: bakery.test\r\n';
const CLOSE = 'Connection: close\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
/** Line breaks, an escape sequence that clears a line of a terminal, and a log entry that an attacker invented. */
const FORGED_LOG_LINE = '\n\r\u2028\u2029\u0085\u001b[2K{"level":"fatal"}';
/** Exceeds Node's limit of 16 KiB for headers and for chunk extensions. */
const OVERSIZED = 'x'.repeat(20_000);
const REJECTIONS: Readonly<Record<number, string>> = {
  400: MESSAGES.malformedRequest,
  413: MESSAGES.tooLarge,
  431: 'request headers are too large',
};

const service = await useService();
const admin = await service.admin();
const server: Server = service.app.getHttpServer();

describe('a hostile field name', () => {
  it.each(['__proto__', 'constructor', 'prototype'])('(%s) in JSON is ignored', async (key) => {
    const email = `${key}@example.com`;
    const fields = JSON.stringify({ fullname: 'Ayu', email, password: 'x', passwordConfirmation: 'x' });
    const register = (json: string) => service.client().post('/api/register').type('json').send(json);
    const polluting = fields.replace('{', `{"${key}":{"role":"ADMIN","prototype":{"role":"ADMIN"}},`);
    const registered = await register(polluting).expect(201);
    expect(registered.body).toMatchObject({ data: { user: { role: 'USER' } } });
    // The required fields must not be inherited.
    await register(`{"${key}":${fields},"passwordConfirmation":"x"}`).expect(400);
  });

  it.each(['__proto__[polluted]', 'constructor[prototype][polluted]', 'toString', 'a[b][c][d][e][f][g]'])(
    '(%s) in a form changes no prototype',
    async (field) => {
      await createProduct(admin, [], { ...CAKE, [field]: 'yes' });
      // Node's loader has loaded the service, so `server` inherits from the service's Object.prototype, not from Jest's.
      expect('polluted' in server).toBe(false);
      expect(typeof server.toString).toBe('function');
    },
  );
});

describe('a JSON body of 100 KB', () => {
  /**
   * Limit for the CPU time of a request, including the client, on the machine for which the limits were chosen (see
   * `measureSlowness`). Reading every value would take at least 60 ms.
   */
  const CPU_MS = 30;
  const manyFields = Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`key${index}`, 1]));

  it.each([
    ['unknown fields', '/api/login', { password: 'x', ...manyFields }],
    ['an object instead of a text', '/api/login', { email: manyFields, password: 'x' }],
    ['unknown fields of an item', '/api/orders', { items: [{ product_id: 0, quantity: 1, ...manyFields }] }],
    ['too many items', '/api/orders', { items: Array.from({ length: 33_000 }, () => ({})) }],
  ])('with %s takes less than 30 ms of CPU time', async (_what, path, body) => {
    const json = JSON.stringify(body);
    expect(json.length).toBeLessThan(100 * 1024);
    const times: number[] = [];
    while (times.length < 10)
      times.push(await measureCpuMs(() => admin.post(path).type('json').send(json).expect(400)));
    // The fastest request is the least affected by other processes.
    expect(Math.min(...times)).toBeLessThan(CPU_MS * (await measureSlowness()));
  });
});

it('a line break in a path or a field adds neither a line nor a control character to the log', async () => {
  const client = service.client();
  const path = `/api/${encodeURIComponent(FORGED_LOG_LINE)}`;
  await client.get(path).set('X-Request-Id', 'injection').expect(404);
  await client.register({ fullname: `Ayu${FORGED_LOG_LINE}` }).expect(400);
  const line = await until('the log line', () =>
    service.log.find(({ requestId }) => requestId === 'injection'),
  );
  expect(line).toMatchObject({ level: 'info', msg: 'request', req: { method: 'GET' } });
  // `service.log` parses each write as JSON, so an injected line would be a parse error or an entry of its own.
  expect(service.log.filter(({ level }) => level === 'fatal')).toEqual([]);
  // JSON escapes some of the control characters, for example as `\n` or `\u001b`.
  expect(JSON.stringify(service.log)).not.toMatch(/[\p{Cc}\u2028\u2029]|\\[bfnrtu]/u);
});

describe('an HTTP request', () => {
  it.each([
    ['rubbish', 'rubbish\r\n\r\n'],
    ['no Host', `GET /api/users HTTP/1.1\r\n${CLOSE}\r\n`],
    ['a URL that cannot be parsed', `GET http://[ HTTP/1.1\r\n${HOST}\r\n`],
    ['a tunnel', `CONNECT bakery.test:80 HTTP/1.1\r\n${HOST}\r\n`],
    ['a length and chunks', `POST /api/login HTTP/1.1\r\n${HOST}Content-Length: 2\r\n${CHUNKED}\r\n{}`],
    ['a broken chunk', `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}${CHUNKED}\r\nzz\r\n{}\r\n0\r\n\r\n`],
    [
      'a long chunk extension',
      `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}${CHUNKED}\r\n2;${OVERSIZED}`,
      413,
    ],
    ['a URL of 20,000 characters', `GET /api/products?${OVERSIZED} HTTP/1.1\r\n${HOST}\r\n`, 431],
    ['a cookie of 20,000 characters', `GET / HTTP/1.1\r\n${HOST}Cookie: a=${OVERSIZED}\r\n\r\n`, 431],
  ])('with %s gets the fail envelope (contract 7)', async (_what, bytes, status = 400) => {
    const [response, ...others] = await sendRaw(service.url, bytes);
    expect(others).toEqual([]);
    expect(response?.status).toBe(status);
    expect(JSON.parse(response?.body ?? '')).toEqual(buildFailure(status, REJECTIONS[status] ?? ''));
    expect(response?.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response?.headers['cache-control']).toBe('private, no-cache');
    expect(response?.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  });

  it.each([
    [100, 200],
    [101, 431],
  ])('with %d headers gets %d (contract 7)', async (count, status) => {
    const others = Array.from({ length: count - 2 }, (_, index) => `X${index}: 1\r\n`).join('');
    const bytes = `GET /api/health/live HTTP/1.1\r\n${HOST}${CLOSE}${others}\r\n`;
    const responses = await sendRaw(service.url, bytes);
    expect(responses.map((response) => response.status)).toEqual([status]);
  });

  it.each(['rubbish', 'GET http://[ HTTP/1.1', 'CONNECT bakery.test:80 HTTP/1.1'])(
    '(%s) does no harm if the client resets the connection at the first bytes of the response',
    async (line) => {
      const socket = openSocket(service.url);
      const closed = once(socket, 'close');
      socket.write(`${line}\r\n${HOST}\r\n`);
      await once(socket, 'data');
      socket.resetAndDestroy();
      await closed;
      await admin.get('/api/users').expect(200);
    },
  );
});

it('a client has 10 s for the headers, 10 minutes for a form, 15 s without a byte in a form, and 5 s until the next request (contract 7 and 8.1)', async () => {
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 600_000, keepAliveTimeout: 5_000 });
  const { FormInterceptor } = await importBuilt('src/images/form.interceptor.js');
  expect(service.app.get(FormInterceptor).idleMs).toBe(15_000);
});

describe('a slow client', () => {
  const POST = `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}`;
  beforeEach(() => {
    // Node applies the shorter timeout to the headers and the longer one to the whole request, so both must be short.
    Object.assign(server, { headersTimeout: 300, requestTimeout: 300 });
  });

  afterAll(() => {
    Object.assign(server, { headersTimeout: 10_000, requestTimeout: 600_000 });
  });

  it.each([
    ['headers', `GET /api/users HTTP/1.1\r\n${HOST}X-Slow: `],
    ['chunks', `${POST}${CHUNKED}\r\n2\r\n{"`],
    ['a body', `${POST}Content-Length: 100\r\n\r\n{"em`],
  ])('gets 408 if it stops in %s', async (_what, bytes) => {
    const [response] = await sendRaw(service.url, bytes);
    expect(JSON.parse(response?.body ?? '')).toEqual(buildFailure(408, MESSAGES.requestTimeout));
  });
});
