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
