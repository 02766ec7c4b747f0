import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { PASSWORD } from './support/accounts.js';
import { withRejectedWrites } from './support/databases.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { useService } from './support/service.js';
import { until } from './support/wait.js';

const KIB = 1024;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const REQUIRED = { email: 'email is required', password: 'password is required' };

const service = await useService();

const get = (path: string) => request(service.url).get(path);

/** Sends a raw body, as JSON by default. */
function post(body: string | Buffer, headers: Record<string, string> = {}, path = '/api/login') {
  const test = request(service.url)
    .post(path)
    .set({ 'Content-Type': 'application/json', ...headers });
  return test.serialize((sent: unknown) => sent as string).send(body as unknown as object);
}

describe('a failing response', () => {
  it.each([
    ['/api/nothing', 404],
    ['/nothing', 404],
    ['/api/register', 404],
    ['/%ZZ', 404],
    ['/api/products/%ZZ', 400],
    ['/api/images/%E0%A4%A', 400],
  ])('for GET %s is %i in the fail envelope, which only private caches may store', async (path, status) => {
    const response = await get(path);
    expectFailure(response, status, status === 404 ? MESSAGES.notFound : MESSAGES.malformedRequest);
    expect(response.headers['cache-control']).toBe('private, no-cache');
  });

  it.each([
    ['an incomplete object', '/api/login', '{"email":"a@example.com"'],
    ['in another format', '/api/login', 'email=a@example.com'],
    ['null', '/api/login', 'null'],
    ['malformed, even if the cookie is missing too (contract 10.9)', '/api/orders', '{'],
  ])('is 400 if a body of type JSON is %s', async (_what, path, body) => {
    expectFailure(await post(body, {}, path), 400, MESSAGES.malformedRequest);
  });

  it.each([
    ['an empty body', 'application/json', ''],
    ['a list of logins', 'application/json; charset="UTF-8"', '[{"email":"a@example.com","password":"x"}]'],
    ['a form', 'application/x-www-form-urlencoded', 'email=a%40example.com&password=x'],
    [
      'a multipart form',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\na@example.com\r\n--x--\r\n',
    ],
  ])('reports every field as missing for %s', async (_what, contentType, body) => {
    expectInvalid(await post(body, { 'Content-Type': contentType }), REQUIRED);
  });

  it('is 413 for JSON of more than 100 KiB, also if only the decompressed JSON is larger', async () => {
    expectInvalid(await post('{}'.padEnd(100 * KIB)), REQUIRED);
    expectFailure(await post('{}'.padEnd(100 * KIB + 1)), 413, MESSAGES.tooLarge);
    const compressed = { 'Content-Encoding': 'gzip' };
    const { password } = REQUIRED;
    expectInvalid(await post(gzipSync('{"email":"a@example.com"}'), compressed), { password });
    const large = gzipSync('{}'.padEnd(5 * KIB * KIB));
    expect(large.length).toBeLessThan(20 * KIB);
    expectFailure(await post(large, compressed), 413, MESSAGES.tooLarge);
  });

  it.each<[Record<string, string>, number, string]>([
    [{ 'Content-Encoding': 'gzip' }, 400, MESSAGES.malformedRequest],
    // Decompressing a few bytes of Brotli can take 40 ms and 16 MiB.
    [{ 'Content-Encoding': 'BR' }, 415, MESSAGES.unsupportedEncoding],
    [{ 'Content-Type': 'application/json; charset=utf-99' }, 415, MESSAGES.unsupportedEncoding],
    // Decoding 100 KiB of UTF-7 would occupy the process for up to 240 ms.
    [{ 'Content-Type': 'application/json; charset="utf-7-imap"' }, 415, MESSAGES.unsupportedEncoding],
  ])('to the body {} with the headers %j is %d "%s"', async (headers, status, message) => {
    expectFailure(await post('{}', headers), status, message);
  });
});

describe('X-Request-Id of a response', () => {
  it.each(['/api/users', '/nothing', '/api/docs-json'])('is generated if GET %s has none', async (path) => {
    const responses = [await get(path), await get(path)];
    const [first, second] = responses.map(({ headers }) => headers['x-request-id']);
    expect(first).toMatch(UUID);
    expect(second).not.toBe(first);
  });

  it('is the id of the client if it is well-formed, otherwise a generated id', async () => {
    const send = (id: string) => get('/api/users').set('X-Request-Id', Buffer.from(id).toString('latin1'));
    for (const id of ['a-Sane.Token_1:2', 'x'.repeat(128)]) await send(id).expect('X-Request-Id', id);
    for (const id of ['', 'two words', 'x'.repeat(129), '<script>', 'é', '${jndi:ldap://x}'])
      await send(id).expect('X-Request-Id', UUID);
  });
});

it.each(['/api/users', '/nothing', '/api/health/live'])(
  'the response to GET %s has the security headers and does not name the framework',
  async (path) => {
    const { headers } = await get(path);
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

it('the log line of a request has the method, the path without the query, the status and the duration', async () => {
  await get('/api/users?token=in-the-query').set('X-Request-Id', 'one-line');
  const line = await until('the log line', () =>
    service.log.find(({ requestId }) => requestId === 'one-line'),
  );
  expect(line).toMatchObject({
    req: { method: 'GET', path: '/api/users' },
    res: { status: 401 },
    durationMs: expect.any(Number) as number,
  });
});

it('an unexpected database failure is logged without the parameters of the statement', async () => {
  const account = { email: 'private@example.com', fullname: 'Very Private', password: PASSWORD };
  const response = await withRejectedWrites(
    service.database,
    'TRIGGER rejection BEFORE INSERT ON users',
    () => service.client().register(account),
  );
  expectFailure(response, 500, MESSAGES.unexpected);
  const requestId = response.headers['x-request-id'];
  const line = service.log.find((entry) => entry.level === 'error' && entry.requestId === requestId);
  expect(line).toMatchObject({ msg: 'rejected by the test' });
  const log = JSON.stringify(service.log);
  for (const secret of [...Object.values(account), '$argon2id$']) expect(log).not.toContain(secret);
});
