import fc from 'fast-check';

const LONE_SURROGATES = ['\ud800', '\udfff', 'a\udc00b'];
const ODD_TEXTS = [
  '',
  ' ',
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
];
export const ODD_NAMES = [
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

/** What PostgreSQL cannot store, or not as it came. */
const UNSTORABLE = ['\0', 'a\0b', ...LONE_SURROGATES];

export const oddText = fc.oneof(
  fc.constantFrom(...UNSTORABLE),
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const ODD_SHAPES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  [],
  {},
  [[]],
  [null],
  { length: 1e9 },
];
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: oddText },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }) },
  fc.constantFrom(...ODD_SHAPES),
  fc.array(oddText, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom(...ODD_NAMES), oddText, { maxKeys: 3 }),
);

/** One of each kind, for every field to be tried with. */
export const ODD_VALUES: readonly unknown[] = [...UNSTORABLE, ...ODD_TEXTS, ...ODD_SHAPES];
