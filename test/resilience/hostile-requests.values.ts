import { randomUUID } from 'node:crypto';
import type { Schema } from '../support/openapi.js';
import { createJpeg, createPng, padTo, SVG_WITH_SCRIPT } from '../support/pictures.js';

export type Values = Readonly<Record<string, unknown>>;
/** Values of stored data, by the name of a parameter or field. */
export type StoredValues = Readonly<Record<string, readonly unknown[]>>;

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
const HOSTILE_VALUES: readonly unknown[] = [undefined, ...HOSTILE_TEXTS, ...HOSTILE_SHAPES];

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
const HOSTILE_FILES = [
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

/** Limits of a schema. */
interface Limits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/**
 * Returns a valid value for a schema: the nth of the stored values of the parameter or field `name`, or else of the enumerated
 * values, or the example.
 */
export function createValue(schema: Schema, stored: StoredValues, name: string, n: number): unknown {
  const listed = stored[name] ?? (schema.enum as unknown[] | undefined);
  if (listed !== undefined) return listed[n % listed.length];
  if (schema.format === 'email') return `${randomUUID()}@example.com`;
  if (schema.format === 'binary') return { name: 'kue.png', bytes: createPng(n) };
  if (schema.example !== undefined) return schema.example;
  if (schema.properties !== undefined) return createFields(schema, stored, n, true);
  if (schema.type === 'array') return [createValue(schema.items as Schema, stored, '', n)];
  if (schema.format === 'uuid') return randomUUID();
  return schema.type === 'string' ? 'x' : 1;
}

/** Creates the required fields of a schema, and the optional ones too if they are wanted. */
export function createFields(
  { properties = {}, required = [] }: Schema,
  stored: StoredValues,
  n: number,
  isComplete: boolean,
): Values {
  const fields = Object.entries(properties).filter(
    ([name]) => isComplete || (required as string[]).includes(name),
  );
  return Object.fromEntries(fields.map(([name, schema]) => [name, createValue(schema, stored, name, n)]));
}

/** Lists values that a field may have to reject: hostile, blank, or just outside a limit. The schema may allow some. */
export function listWrongValues(schema: Schema, stored: StoredValues): readonly unknown[] {
  const { minimum, maximum, minLength, maxLength } = schema as Limits;
  const items = schema.items as Schema | undefined;
  if (items?.format === 'binary') return HOSTILE_FILES;
  const values = [
    ...HOSTILE_VALUES,
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength === undefined ? [] : [' '.repeat(minLength)]),
    // An emoji is one character, but two UTF-16 units.
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1), '💥'.repeat(maxLength)]),
  ];
  if (items?.properties === undefined) return values;
  const item = createFields(items, stored, 0, true);
  const wrongItems = Object.entries(items.properties).flatMap(([name, inner]) =>
    listWrongValues(inner, stored).map((value) => [{ ...item, [name]: value }]),
  );
  return [...values, ...wrongItems, Array.from({ length: 51 }, () => item)];
}
