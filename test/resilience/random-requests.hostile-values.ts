import { createJpeg, createPng, padTo, SVG_WITH_SCRIPT } from '../support/pictures.js';

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\u202e',
  '💥'.repeat(200),
  'İ'.repeat(254),
  'x'.repeat(60_000),
  "' OR 1=1 --",
  '<script>alert(1)</script>{{7*7}}',
  '../../../../etc/passwd',
  '1e309',
  // Arabic-Indic digit three, which `\d` must not accept.
  '٣',
  '__proto__',
];
const HOSTILE_SHAPES = [null, true, 0, -1, 1.5, 1e308, 2 ** 53, [], {}, [[]], [null], { length: 1e9 }];
/** Values for every field; undefined omits the field. */
export const HOSTILE_VALUES: readonly unknown[] = [undefined, ...HOSTILE_TEXTS, ...HOSTILE_SHAPES];

/** Names of fields that no operation has. */
// prettier-ignore
export const HOSTILE_NAMES = [
  'role', 'id', '__proto__', '__proto__[isAdmin]', 'constructor[prototype][isAdmin]', 'hasOwnProperty', '',
  'images[removed][]', 'name[a][b][c][d][e][f][g][h]', 'price[9999999]', 'na"me', 'x'.repeat(2_000),
];

/** Values for every parameter, percent-encoded, some of them incorrectly. */
// prettier-ignore
export const HOSTILE_PARAMETERS = [
  '0', '-1', '1.5', '1e1', 'NaN', '9'.repeat(30), '%', '%ff', '%00', '%2e%2e%2f', '%C0%AF', 'a;b',
  // A lone surrogate, which cannot be percent-encoded, becomes U+FFFD.
  ...HOSTILE_TEXTS.map((text) => encodeURIComponent(Buffer.from(text).toString()).slice(0, 2_000)),
];
export const HOSTILE_QUERIES = [
  '?last_id=1&last_id=2',
  '?last_id[a]=1',
  '?__proto__[x]=1',
  '?%00=%00',
  '?&&&===',
  `?${'a&'.repeat(3_000)}`,
  `?last_id${'[a]'.repeat(300)}=1`,
];

/** Each list contains the files of one form, in the field `images` unless `field` names another one. */
export const HOSTILE_FILES = [
  [{ name: 'kue.gif', bytes: createPng() }],
  [{ name: '../../kue.png', bytes: createPng() }],
  [{ name: 'kue.png\0.html', bytes: createJpeg() }],
  [{ name: 'kue.png', bytes: Buffer.alloc(0) }],
  [{ name: 'kue.png', bytes: SVG_WITH_SCRIPT }],
  [{ name: 'kue.png', bytes: createPng().subarray(0, 7) }],
  [{ name: 'kue.png', bytes: createPng(), field: 'images[]' }],
  [{ name: 'big.png', bytes: padTo(createPng(), 5 * 1024 * 1024 + 1) }],
  Array.from({ length: 6 }, () => ({ name: 'kue.png', bytes: createPng() })),
];

export const HOSTILE_BODIES = [
  '',
  '{',
  '[]',
  'null',
  '7',
  '\ufeff{}',
  '{"a":1}{"a":1}',
  '{"__proto__": {"isAdmin": true}, "constructor": {"prototype": {"isAdmin": true}}}',
  '['.repeat(50_000) + ']'.repeat(50_000),
  `{"email": ${'['.repeat(40_000) + ']'.repeat(40_000)}}`,
  `{"email": "${'x'.repeat(150_000)}"}`,
];
export const HOSTILE_CONTENT_TYPES = [
  'application/json; charset=utf-16le',
  'application/json; charset=utf-99',
  'application/JSON;;;',
  'application/x-www-form-urlencoded',
  'text/plain',
  '',
  'multipart/form-data',
  'multipart/form-data; boundary=other',
];
/** Values by the name of the header. */
export const HOSTILE_HEADERS: Readonly<Record<string, readonly string[]>> = {
  'X-Request-Id': ['mine', 'x'.repeat(4_000), '<script>', '\xff'],
  Origin: ['null', 'http://evil.example', ''],
  Accept: ['text/html', 'image/png;q=2', ';;;'],
  Range: ['bytes=0-0', 'bytes=9999-', 'bytes=0-0,2-3', 'lines=1'],
  'If-None-Match': ['*', 'W/"x"', '"'],
  'X-HTTP-Method-Override': ['DELETE', 'TRACE'],
  'X-Forwarded-For': ['::1', 'x, y', ''],
  Authorization: ['Bearer x', 'Basic Og=='],
  Host: ['evil.example', 'localhost:99999', 'a[::1', ''], // undici sends no value that begins with an unclosed bracket
  Cookie: ['refreshToken=j:{"a":1}', 'accessToken=%', '=;;=', 'refreshToken=a.b.c'],
};
