import fc from 'fast-check';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { formBody, type GoodFields, jsonBody, oddFields, type TypedBody } from './hostile-bodies.js';
import { oddText } from './hostile-values.js';

/** A request as it goes over the wire, its method and route aside. */
export interface HostileRequest {
  /** Values of the route's path parameters, percent-encoded or not encodable at all. */
  readonly parameters: readonly string[];
  /** What follows the path, `?` included. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
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

/** Requests that are good but for one field, which takes every odd value in turn. */
export function requestsWithOddFields(
  cookie: string,
  { kind, good }: { readonly kind: 'json' | 'form' | 'none'; readonly good: GoodFields },
): HostileRequest[] {
  if (kind === 'none') return [];
  return oddFields(kind, good).map(({ type, bytes }) => ({
    parameters: ['1'],
    query: '',
    headers: {
      ...(cookie !== '' && { Cookie: cookie }),
      ...(type !== undefined && { 'Content-Type': type }),
    },
    body: bytes,
  }));
}
