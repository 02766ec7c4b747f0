import type { OutgoingHttpHeaders } from 'node:http';
import { insertProducts, untilHeard, wire, type WireAnswer } from './support/catalog.js';
import { closeLane, logLineOf, watchLane } from './support/lane.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { startService, type TestService } from './support/service.js';
import { expiredToken, goodClaims, signToken } from './support/tokens.js';
import { until } from './support/wait.js';

const SHOP = 'https://shop.example';
const settings = { CORS_ORIGINS: SHOP };
const token = signToken(goodClaims());
const cookie = `accessToken=${token}`;

let database: TestDatabase;
/** With the page cache and its lane, and without either. */
let fast: TestService;
let plain: TestService;
let tookLane: () => boolean;
let etag: string;

beforeAll(async () => {
  database = await createDatabase();
  await insertProducts(database, 120, 'Roti "sisir"\t\u0001\u2028é🥐 </script>');
  await database.pool.query(`UPDATE products SET description = NULL, price = 0.10 WHERE id = 3`);
  await database.pool.query(
    `INSERT INTO images (id, host, state, product_id, position, url)
     SELECT gen_random_uuid(), 'local', 'attached', n % 7 + 1, n, 'http://bakery.test/"' || n FROM generate_series(1, 20) n`,
  );
  fast = await startService({ database, settings });
  plain = await startService({ database, settings: { ...settings, CATALOG_CACHE_MB: '0' } });
  closeLane(plain);
  await untilHeard(fast);
  tookLane = watchLane(fast);
  etag = (await wire(plain.url, '/api/products', { cookie })).headers.etag ?? '';
});

afterAll(async () => {
  await fast.stop();
  await plain.stop();
  await database.drop();
});

/** What has to be the same on both ways: everything but the moment and an id that was made. */
function comparable({ status, rawHeaders, body }: WireAnswer, sentId: unknown): unknown {
  const headers = rawHeaders.map((value, index) => {
    const name = rawHeaders[index - 1]?.toLowerCase();
    if (index % 2 === 0 || (name !== 'date' && name !== 'x-request-id')) return value;
    return value === sentId ? 'as sent' : value.replace(/[0-9a-f-]{36}/, 'made').replace(/^.*GMT$/, 'now');
  });
  return { status, headers, body };
}

interface Variant {
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly method?: string;
  /** Whether it is answered before Express once the way is known. */
  readonly lane: boolean;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  'the first page': { lane: true },
  'a page in the middle': { path: '?last_id=37', lane: true },
  'a page after 0': { path: '?last_id=0', lane: true },
  'a last_id with zeros in front': { path: '?last_id=007', lane: true },
  'the last, shorter page': { path: '?last_id=99', lane: true },
  'the end of the list': { path: '?last_id=120', lane: false },
  'far beyond the end': { path: '?last_id=999999999', lane: false },
  'the largest id': { path: '?last_id=2147483647', lane: false },
  'a last_id that is no number': { path: '?last_id=abc', lane: false },
  'an empty last_id': { path: '?last_id=', lane: false },
  'two last_ids': { path: '?last_id=1&last_id=2', lane: false },
  'an encoded last_id': { path: '?last_id=%31', lane: false },
  'a negative last_id': { path: '?last_id=-1', lane: false },
  'a fraction': { path: '?last_id=1.5', lane: false },
  'an unknown parameter': { path: '?page=2', lane: false },
  'a slash at the end': { path: '/', lane: false },
  'one product': { path: '/1', lane: false },
  HEAD: { method: 'HEAD', lane: false },
  OPTIONS: { method: 'OPTIONS', headers: { origin: SHOP }, lane: false },
  POST: { method: 'POST', lane: false },
  'an allowed origin': { headers: { origin: SHOP }, lane: true },
  'a foreign origin': { headers: { origin: 'https://evil.example' }, lane: true },
  'an empty origin': { headers: { origin: '' }, lane: true },
  'a request id of the caller': { headers: { 'x-request-id': 'lane-1:a.b_c' }, lane: true },
  'a request id that is no sane token': { headers: { 'x-request-id': 'two words' }, lane: true },
  'two request ids': { headers: { 'x-request-id': ['first', 'second'] }, lane: true },
  'other cookies beside the token': { headers: { cookie: `theme=dark; ${cookie}; a=b` }, lane: true },
  'cookies without a value beside the token': { headers: { cookie: `theme; ${cookie}` }, lane: true },
  'a quoted token': { headers: { cookie: `accessToken="${token}"` }, lane: false },
  'an encoded token': { headers: { cookie: `accessToken=${token.replaceAll('.', '%2E')}` }, lane: false },
  'a token in a JSON cookie': { headers: { cookie: `accessToken=j:"${token}"` }, lane: false },
  'spaces around the token': { headers: { cookie: `accessToken = ${token} ` }, lane: false },
  'the token twice, a bad one first': { headers: { cookie: `accessToken=bad; ${cookie}` }, lane: false },
  'the token twice, a bad one last': { headers: { cookie: `${cookie}; accessToken=bad` }, lane: false },
  'a cookie whose name ends like it': { headers: { cookie: `xaccessToken=${token}` }, lane: false },
  'a cookie of another case': { headers: { cookie: `accesstoken=${token}` }, lane: false },
  'no cookie': { headers: { cookie: '' }, lane: false },
  'an expired token': { headers: { cookie: `accessToken=${expiredToken()}` }, lane: false },
  'a token that somebody else signed': {
    headers: {
      cookie: `accessToken=${signToken(goodClaims(), { secret: 'another secret of 32 characters!' })}`,
    },
    lane: false,
  },
  'a token with one more character': { headers: { cookie: `${cookie}A` }, lane: false },
  'a token without a signature': {
    headers: { cookie: `accessToken=${token.slice(0, token.lastIndexOf('.') + 1)}` },
    lane: false,
  },
  'a tag that does not match': { headers: { 'if-none-match': 'W/"0"' }, lane: true },
  'a star for a tag': { headers: { 'if-none-match': '*' }, lane: false },
  'a tag that is none': { headers: { 'if-none-match': 'x' }, lane: false },
  'an old If-Modified-Since': {
    headers: { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
    lane: false,
  },
  'no-cache': { headers: { 'cache-control': 'no-cache' }, lane: true },
  'a body': { headers: { 'content-length': 2, 'content-type': 'application/json' }, lane: false },
  'a body of chunks': { headers: { 'transfer-encoding': 'chunked' }, lane: false },
  'an upgrade': { headers: { connection: 'upgrade', upgrade: 'h2c' }, lane: false },
  'an expectation': { headers: { expect: 'a miracle' }, lane: false },
  'a method override': { headers: { 'x-http-method-override': 'DELETE' }, lane: true },
};

async function expectSame({ path = '', headers = {}, method, lane }: Variant): Promise<void> {
  const sent: OutgoingHttpHeaders = { cookie, ...headers };
  const ask = ({ url }: TestService): Promise<WireAnswer> => wire(url, `/api/products${path}`, sent, method);
  const expected = await ask(plain);
  // The first brings the page into memory, the second is where the lane learns its headers.
  for (const takesLane of [undefined, undefined, lane]) {
    const answer = await ask(fast);
    if (takesLane !== undefined) expect(tookLane()).toBe(takesLane);
    expect(comparable(answer, sent['x-request-id'])).toEqual(comparable(expected, sent['x-request-id']));
    if (answer.headers['x-request-id'] !== sent['x-request-id'])
      expect(await logLineOf(fast, answer)).toEqual(await logLineOf(plain, expected));
  }
}

describe('page cache: a page in memory is answered as the whole pipeline answers it', () => {
  it.each(Object.entries(VARIANTS))(
    'page cache: the answer to %s differs in nothing, its log line included',
    async (_what, variant) => {
      await expectSame(variant);
    },
  );

  it.each([
    ['the very tag', (tag: string) => tag, true],
    ['the tag as a strong one', (tag: string) => tag.slice(2), true],
    ['the tag in a list', (tag: string) => `"x", ${tag}`, false],
    ['the tag with spaces', (tag: string) => `  ${tag}  `, true],
  ])('page cache: If-None-Match with %s is answered 304 without a body', async (_what, form, lane) => {
    const headers = { 'if-none-match': form(etag) };
    await expectSame({ headers, lane });
    const { status, body } = await wire(fast.url, '/api/products', { cookie, ...headers });
    expect({ status, body }).toEqual({ status: 304, body: '' });
  });

  it('page cache: If-None-Match with Cache-Control: no-cache is answered in full', async () => {
    const headers = { 'if-none-match': etag, 'cache-control': 'no-cache' };
    await expectSame({ headers, lane: false });
    expect((await wire(fast.url, '/api/products', { cookie, ...headers })).status).toBe(200);
  });

  it('page cache: serialised by the database, a page is what JSON.stringify makes of it', async () => {
    const { body } = await wire(fast.url, '/api/products', { cookie });
    expect(JSON.stringify(JSON.parse(body))).toBe(body);
    expect(body).toContain('"id":3,"name":"Bread 3","description":null,"price":0.1,');
  });

  it('page cache: a token that expires is refused at that second, remembered or not', async () => {
    const exp = Math.floor(Date.now() / 1000) + 2;
    const sent = { cookie: `accessToken=${signToken(goodClaims({ exp }))}` };
    expect((await wire(fast.url, '/api/products', sent)).status).toBe(200);
    expect((await wire(fast.url, '/api/products', sent)).status).toBe(200);
    expect((await wire(fast.url, '/api/products', sent)).status).toBe(200);
    expect(tookLane()).toBe(true);
    const { status } = await until('a refusal', async () => {
      const answer = await wire(fast.url, '/api/products', sent);
      return answer.status !== 200 && answer;
    });
    expect(status).toBe(401);
    expect(Date.now() / 1000).toBeGreaterThanOrEqual(exp);
  });
});
