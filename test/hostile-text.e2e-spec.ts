import request from 'supertest';
import { newAccount, PASSWORD } from './support/accounts.js';
import { CAKE, form } from './support/products.js';
import { sendRaw } from './support/raw-http.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

/** May neither end a log line nor move a terminal's cursor. */
const LINE_BREAKS = '\n\r\u2028\u2029\u0085\u001b[2K{"level":"fatal"}';

describe('text with a meaning in another language', () => {
  it('characters of SQL in a name are kept as typed', async () => {
    for (const fullname of [
      `'); DROP TABLE users; --`,
      `$1 $$ E'\\' U&"\\0041" %s ? :name`,
      `{"a":1}\\u0000 \\x00 {{fullname}}`,
      `Robert"; SELECT pg_sleep(5); /*`,
    ]) {
      const { client, id } = await newAccount(service, fullname);
      expect((await client.get('/api/refresh').expect(200)).body).toMatchObject({
        data: { user: { fullname } },
      });
      const { rows } = await service.database.pool.query('SELECT fullname FROM users WHERE id = $1', [id]);
      expect(rows).toEqual([{ fullname }]);
    }
  });

  it('a line break in a path, a user agent, an id or a name begins no new log line', async () => {
    const id = 'log-injection-1';
    await request(service.url)
      .get(`/api/${encodeURIComponent(LINE_BREAKS)}`)
      .set('X-Request-Id', id)
      .set('User-Agent', 'a\tb')
      .expect(404);
    await newAccount(service, `Ayu${LINE_BREAKS}`);
    const line = await until('the log line', () => service.log.find(({ requestId }) => requestId === id));
    expect(line).toMatchObject({ level: 'info', msg: 'request', req: { method: 'GET' } });
    // The test's log parses each write as one line of JSON: an injected line would be one of these.
    expect(service.log.filter(({ level }) => level === 'fatal')).toEqual([]);
    expect(JSON.stringify(service.log)).not.toMatch(/[\p{Cc}]/u);
  });

  it('a request id that would break a header is replaced', async () => {
    const [answer] = await sendRaw(
      service.url,
      'GET /api/health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: a%0d%0aSet-Cookie: x=y\r\n\r\n',
    );
    expect(answer?.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    expect(answer?.headers).not.toHaveProperty('set-cookie');
  });
});

describe('fields with a meaning in JavaScript', () => {
  it('form fields named after prototypes change none and bind nothing', async () => {
    const admin = await service.admin();
    const response = await admin
      .post('/api/products')
      .field('name', 'Nastar')
      .field('description', 'Pineapple')
      .field('price', '1000')
      .field('__proto__[isAdmin]', 'yes')
      .field('__proto__', 'yes')
      .field('constructor[prototype][isAdmin]', 'yes')
      .field('constructor.prototype.isAdmin', 'yes')
      .field('toString', 'yes');
    expect(response.status).toBe(201);
    expect(Object.keys((response.body as { data: { products: object } }).data.products).sort()).toEqual([
      'description',
      'id',
      'images',
      'name',
      'price',
    ]);
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
    expect(typeof {}.toString).toBe('function');
  });

  it.each([
    ['a list nested 40,000 deep', '['.repeat(40_000) + ']'.repeat(40_000)],
    ['an object nested 10,000 deep', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['a constructor that is a text', '{"constructor":"x"}'],
    ['a prototype without a constructor', '{"__proto__":{"constructor":null}}'],
    ['a promise', '{"then":"x"}'],
    ['a huge length', '{"length":1e300}'],
  ])('%s as a field or as the whole body is a validation error', async (_what, json) => {
    for (const body of [
      json,
      `{"email":${json},"password":"x"}`,
      `{"email":"a@b.example","password":[${json}]}`,
    ]) {
      const answer = await service.client().post('/api/login').type('json').send(body).expect(400);
      expect(answer.body).toMatchObject({ errors: { code: 400, message: 'validation error' } });
    }
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('unknown fields of any shape are dropped beside good ones (contract 10.2)', async () => {
    const hostile = { constructor: 'x', a: { constructor: 'x' }, b: [[[[[[[[1]]]]]]]], then: 'x' };
    const registration = service.client().register({ email: 'hostile@example.com' });
    await registration.send({ ...hostile, role: 'ADMIN' }).expect(201);
    const admin = await service.admin();
    await form(admin.post('/api/products'), { ...CAKE, 'b[0][0][0]': 'x', then: 'x' }).expect(201);
  });
});

describe('text made to keep a validator busy', () => {
  /** Generous: a busy machine takes its time, a backtracking expression takes minutes. */
  const BOUND_MS = 2_000;
  const LONG = 40_000;
  const hostile: readonly (readonly [string, (length: number) => string])[] = [
    ['at signs', (length) => '@'.repeat(length)],
    ['a quoted local part', (length) => `"${'\\"'.repeat(length / 2 - 10)}"@a.co`],
    ['spaces', (length) => `a${' '.repeat(length - 8)}b@a.co`],
    ['a display name', (length) => `${'<'.repeat(length - 10)}a@b.co>`],
  ];

  it.each(hostile)('an e-mail of %s is judged at once, however long', async (_what, make) => {
    for (const length of [254, LONG]) {
      const start = performance.now();
      const { status } = await service
        .client()
        .post('/api/login')
        .send({ email: make(length), password: PASSWORD });
      expect(status).toBe(400);
      expect(performance.now() - start).toBeLessThan(BOUND_MS);
    }
  });

  it('the length of an e-mail is judged before its form', async () => {
    const response = await service
      .client()
      .post('/api/login')
      .send({ email: '@'.repeat(255), password: 'x' });
    expect(response.body).toMatchObject({
      errors: { details: { email: 'email can have 254 characters at max' } },
    });
  });

  it.each([
    ['description', ' '.repeat(20_000) + 'x'.repeat(10_001)],
    ['price', '0'.repeat(LONG) + 'x'],
    ['price', '1.' + '0'.repeat(LONG)],
    ['name', '\t '.repeat(LONG / 2)],
  ])('a %s of many characters is judged at once', async (field, value) => {
    const admin = await service.admin();
    const start = performance.now();
    const form = admin.post('/api/products');
    for (const [name, good] of Object.entries({ name: 'N', description: 'D', price: '1', [field]: value }))
      void form.field(name, good);
    const { status } = await form;
    expect([400, 413]).toContain(status);
    expect(performance.now() - start).toBeLessThan(BOUND_MS);
  });
});
