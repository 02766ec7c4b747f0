import fc from 'fast-check';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type Notification, signatureKey } from './notifications.js';
import { png } from './pictures.js';

/** A request as it goes over the wire, its method and route aside. */
export interface HostileRequest {
  /** Values of the route's path parameters, percent-encoded or not encodable at all. */
  readonly parameters: readonly string[];
  /** What follows the path, `?` included. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Stands in a good value for a text that no other request has. */
export const UNIQUE = '{unique}';

/** Good values of the fields that a route reads, so that a request with one bad field gets as far as it can. */
export type GoodFields = Readonly<Record<string, unknown>>;

const LONE_SURROGATES = ['\ud800', '\udfff', 'a\udc00b'];
const ODD_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ufeff',
  '\u202e',
  '💥'.repeat(200),
  'İ'.repeat(254),
  'x'.repeat(256),
  'x'.repeat(60_000),
  "' OR 1=1 --",
  '{{7*7}}',
  '<script>alert(1)</script>',
  '../../../../etc/passwd',
  '%00',
  '1e309',
  '-0',
  '0x10',
  'NaN',
  '9'.repeat(400),
  '٣',
  'undefined',
  '__proto__',
  ...LONE_SURROGATES,
];
const ODD_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'role',
  'id',
  '',
  '$where',
];

const oddText = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ unit: 'binary', maxLength: 40 }));
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: oddText },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }) },
  fc.constantFrom(null, true, 0, -1, 1e308, -1e-308, 2 ** 53, [], {}, [[]], [null], { length: 1e9 }),
  fc.array(oddText, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom(...ODD_NAMES), oddText, { maxKeys: 3 }),
);

/** The good fields with some of them replaced or left out, and some that nobody asked for. */
function fields(good: GoodFields): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(good);
  return fc
    .record({
      bad: fc.oneof(fc.constant<string[]>([]), fc.subarray(names, { maxLength: Math.min(2, names.length) })),
      values: fc.array(fc.option(oddValue, { nil: undefined }), { minLength: 2, maxLength: 2 }),
      extra: fc.dictionary(fc.oneof(fc.constantFrom(...ODD_NAMES), fc.string()), oddValue, { maxKeys: 3 }),
      unique: fc.uuid(),
    })
    .map(({ bad, values, extra, unique }) => {
      const goodNow = Object.entries(good).map(([name, value]): [string, unknown] => [
        name,
        typeof value === 'string' ? value.replace(UNIQUE, unique) : value,
      ]);
      const badNow = bad.map((name, index): [string, unknown] => [name, values[index]]);
      return signed({ ...extra, ...Object.fromEntries([...goodNow, ...badNow]) });
    });
}

/** A notification signed as it stands now, so that it is not refused for its signature alone. */
function signed(body: Record<string, unknown>): Record<string, unknown> {
  const { order_id, status_code, gross_amount } = body;
  const isSignable = [order_id, status_code, gross_amount].every((field) => typeof field === 'string');
  return isSignable ? { ...body, signature_key: signatureKey(body as Notification) } : body;
}

interface TypedBody {
  readonly type: string | undefined;
  readonly bytes: Buffer;
}

function jsonBody(good: GoodFields): fc.Arbitrary<TypedBody> {
  const type = fc.constantFrom(
    'application/json',
    'application/json; charset=utf-8',
    'application/json; charset=utf-16le',
    'application/json; charset=utf-99',
    'application/vnd.api+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/JSON;;;',
    'json',
    '',
    'multipart/form-data',
  );
  const text = fc.oneof(
    { weight: 8, arbitrary: fields(good).map((body) => JSON.stringify(body)) },
    { weight: 2, arbitrary: oddValue.map((value) => JSON.stringify(value)) },
    fc.constantFrom(
      '',
      ' ',
      '{',
      '[]',
      'null',
      '"text"',
      '7',
      '\ufeff{}',
      "{'a': 1}",
      '{"a":1}{"a":1}',
      '{"__proto__": {"isAdmin": true}, "constructor": {"prototype": {"isAdmin": true}}}',
      '['.repeat(50_000) + ']'.repeat(50_000),
      '{"email":'.repeat(9_000) + '1' + '}'.repeat(9_000),
      `{"email": "${'x'.repeat(150_000)}"}`,
    ),
  );
  const bytes = fc.oneof(
    { weight: 8, arbitrary: text.map((content) => Buffer.from(content)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((content) => Buffer.from(content)) },
    { weight: 1, arbitrary: text.map((content) => Buffer.from(content.slice(0, 2_000), 'utf16le')) },
  );
  // Mostly what the route reads; the other types are for its refusals.
  return fc.record({
    type: fc.oneof({ weight: 6, arbitrary: fc.constant('application/json') }, type),
    bytes,
  });
}

const BOUNDARY = 'BoundaryOfTheTests';

function formBody(good: GoodFields): fc.Arbitrary<TypedBody> {
  const oddFieldName = fc.constantFrom(
    ...ODD_NAMES,
    'images',
    'images[]',
    'images.removed',
    'images.removed[]',
    'images[removed][]',
    'name[a][b][c][d][e][f][g][h][i][j][k]',
    'price[9999999]',
    '__proto__[isAdmin]',
    'x'.repeat(2_000),
    'na"me',
  );
  const file = fc.record({
    field: fc.constantFrom('images', 'images[]', 'other'),
    name: fc.oneof(
      { weight: 3, arbitrary: fc.constant('kue.png') },
      fc.constantFrom('a.png', 'b.JPG', 'c.gif', '../../d.png', 'e.png\0.exe', '.png', ''),
      oddText,
    ),
    bytes: fc.oneof(
      { weight: 3, arbitrary: fc.constant(png(3)) },
      fc.constantFrom(
        png(1),
        png(2).subarray(0, 20),
        Buffer.alloc(0),
        Buffer.from('<svg/>'),
        Buffer.alloc(6_000_000),
      ),
      fc.uint8Array({ maxLength: 100 }).map((content) => Buffer.from(content)),
    ),
  });
  const parts = fc.record({
    fields: fields(good),
    odd: fc.oneof(
      fc.constant<[string, string][]>([]),
      fc.array(fc.tuple(oddFieldName, oddText), { maxLength: 3 }),
    ),
    files: fc.array(file, { maxLength: 7 }),
  });
  const whole = parts.map(({ fields: content, odd, files }) => {
    const texts = [...Object.entries(content).flatMap(repeated), ...odd];
    return Buffer.concat([
      ...texts.map(([name, value]) => part(`name="${inHeader(name)}"`, Buffer.from(value))),
      ...files.map(({ field, name, bytes }) =>
        part(`name="${field}"; filename="${inHeader(name)}"`, bytes, 'image/png'),
      ),
      Buffer.from(`--${BOUNDARY}--\r\n`),
    ]);
  });
  const bytes = fc.oneof(
    { weight: 5, arbitrary: whole },
    { weight: 1, arbitrary: fc.tuple(whole, fc.nat(400)).map(([form, at]) => form.subarray(0, at)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((content) => Buffer.from(content)) },
    fc.constantFrom(
      Buffer.from(`--${BOUNDARY}\r\n\r\n\r\n--${BOUNDARY}--`),
      Buffer.from(`--${BOUNDARY}\r\nx`),
    ),
  );
  const type = fc.oneof(
    { weight: 8, arbitrary: fc.constant(`multipart/form-data; boundary=${BOUNDARY}`) },
    fc.constantFrom(
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=other',
      `multipart/form-data; boundary=${'x'.repeat(300)}`,
      `multipart/mixed; boundary=${BOUNDARY}`,
      'application/json',
    ),
  );
  return fc.record({ type, bytes });
}

/** A list becomes repeated fields, as a form sends it. */
function repeated([name, value]: [string, unknown]): [string, string][] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.map((entry) => [name, typeof entry === 'string' ? entry : String(JSON.stringify(entry))]);
}

function part(disposition: string, content: Buffer, type?: string): Buffer {
  const header = `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  return Buffer.concat([
    Buffer.from(type === undefined ? `${header}\r\n` : `${header}Content-Type: ${type}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ]);
}

function inHeader(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ');
}

const encoding = fc.oneof(
  { weight: 9, arbitrary: fc.constant(null) },
  fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'zip', 'a lie'),
);

function encode(bytes: Buffer, how: string | null): Buffer {
  if (how === 'gzip') return gzipSync(bytes);
  if (how === 'deflate') return deflateSync(bytes);
  return how === 'br' ? brotliCompressSync(bytes) : bytes;
}

/** Text that may stand in a header line. */
const headerText = fc.string({ unit: 'binary', maxLength: 60 }).map((text) =>
  Buffer.from(text)
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''),
);

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    'X-Request-Id': fc.oneof(fc.constantFrom('mine', 'x'.repeat(4_000), '<script>'), headerText),
    // The service's own, else nearly every odd request would end here.
    Origin: fc.oneof(
      { weight: 8, arbitrary: fc.constant('http://bakery.test') },
      fc.constantFrom('null', 'http://evil.example', ''),
      headerText,
    ),
    Accept: fc.constantFrom('*/*', 'text/html', 'image/png;q=2', ';;;'),
    'Accept-Encoding': fc.constantFrom('gzip, br', 'identity;q=0', '*;q=0'),
    Range: fc.constantFrom('bytes=0-0', 'bytes=9999-', 'bytes=-0', 'bytes=0-0,2-3', 'bytes=5-1', 'lines=1'),
    'If-None-Match': fc.constantFrom('*', 'W/"x"', '"'),
    'If-Modified-Since': fc.constantFrom('yesterday', 'Sat, 01 Jan 2050 00:00:00 GMT'),
    'X-HTTP-Method-Override': fc.constantFrom('DELETE', 'TRACE'),
    'X-Forwarded-For': headerText,
    Authorization: fc.constantFrom('Bearer x', 'Basic Og=='),
    Host: fc.constantFrom('evil.example', 'localhost:99999', '[::1', ''),
  },
  { requiredKeys: [] },
);
/** Stand besides the caller's own cookie. */
const oddCookie = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  fc.constantFrom(
    'refreshToken=j:{"a":1}',
    'refreshToken=%',
    'accessToken',
    '=;;=',
    'a=b',
    'refreshToken=a.b.c',
  ),
  headerText,
);

/** Lone surrogates, which no percent-encoding has, become U+FFFD. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());
const parameter = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('1', '2') },
  fc.constantFrom(
    '1',
    '2',
    '0',
    '-1',
    '1.5',
    '1e1',
    '99999999999',
    '%',
    '%ff',
    '%00',
    '%2e%2e',
    '%2F',
    '%C0%AF',
    'a;b',
  ),
  oddText.map((text) => encoded(text).slice(0, 2_000) || '1'),
);
const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom(
    '?',
    '?last_id=',
    '?last_id=1&last_id=2',
    '?last_id[a]=1',
    '?last_id[]=1',
    '?__proto__[x]=1',
    '?last_id=%',
    '?last_id=%ff%00',
    '?%00=%00',
    '?&&&===',
    `?last_id=${'9'.repeat(5_000)}`,
    `?${'a&'.repeat(3_000)}`,
    `?last_id${'[a]'.repeat(300)}=1`,
  ),
  oddText.map((text) => `?last_id=${encoded(text).slice(0, 5_000)}`),
);

/**
 * Requests that no client of ours would send.
 * @param cookie of the caller, empty without one
 * @param body what the route reads and good values for it
 */
export function hostileRequests(
  cookie: string,
  body: { readonly kind: 'json' | 'form' | 'none'; readonly good: GoodFields },
): fc.Arbitrary<HostileRequest> {
  const empty = fc.constant({ type: undefined, bytes: Buffer.alloc(0) });
  const [usual, unusual] =
    body.kind === 'form'
      ? [formBody(body.good), jsonBody(body.good)]
      : [jsonBody(body.good), formBody(body.good)];
  const content: fc.Arbitrary<TypedBody> =
    body.kind === 'none'
      ? fc.oneof({ weight: 4, arbitrary: empty }, usual)
      : fc.oneof({ weight: 10, arbitrary: usual }, unusual, empty);
  return fc
    .record({
      parameters: fc.array(parameter, { minLength: 2, maxLength: 2 }),
      query,
      odd: oddHeaders,
      isOdd: fc.boolean(),
      besides: oddCookie,
      how: encoding,
      content,
    })
    .map(({ parameters, query: text, odd, isOdd, besides, how, content: { type, bytes } }) => {
      const cookies = [cookie, besides].filter((entry) => entry !== '').join('; ');
      return {
        parameters,
        query: text,
        headers: {
          ...(isOdd && odd),
          ...(cookies !== '' && { Cookie: cookies }),
          ...(type !== undefined && { 'Content-Type': type }),
          ...(how !== null && bytes.length > 0 && { 'Content-Encoding': how }),
        },
        body: encode(bytes, how),
      };
    });
}
