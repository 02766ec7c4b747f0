import fc from 'fast-check';
import type { Schema } from '../support/openapi.js';
import { createJpeg, createPng } from '../support/pictures.js';
import type { FormFile } from '../support/products.js';
import { HOSTILE_FILES, HOSTILE_VALUES } from './random-requests.hostile-values.js';

export type Values = Readonly<Record<string, unknown>>;
/** Values of stored data, by the name of a parameter or field. */
export type ExistingValues = Readonly<Record<string, readonly unknown[]>>;

interface Limits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Generates values for a schema, mostly existing values of the parameter or field `name`, if any. Ignores `minLength`. */
export function generateValue(schema: Schema, existing: ExistingValues, name = ''): fc.Arbitrary<unknown> {
  const values = existing[name] ?? [];
  const arbitrary = generateNewValue(schema, existing);
  return values.length === 0
    ? arbitrary
    : fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values) }, arbitrary);
}

function generateNewValue(schema: Schema, existing: ExistingValues): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 2 ** 31 - 1, minItems = 0, maxLength = 300 } = schema as Limits;
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.format === 'date') return fc.constantFrom('2026-11-24', '2028-02-29', '9999-12-31');
  if (schema.format === 'uuid') return fc.uuid();
  if (schema.format === 'email') return fc.uuid().map((id) => `${id}@example.com`);
  if (schema.format === 'binary') return picture;
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern));
  if (schema.type === 'integer' || schema.type === 'number') return fc.integer({ min, max });
  if (schema.type === 'array') {
    const item = generateValue(schema.items as Schema, existing);
    return fc.array(item, { minLength: minItems, maxLength: minItems + 2 });
  }
  if (schema.properties !== undefined) return generateFields(schema, existing);
  return fc.oneof(
    fc.constantFrom(schema.example ?? 'x', 'x'.repeat(maxLength)),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: Math.min(maxLength, 60) }),
  );
}

/** Generates the required fields of a schema, and some of the optional ones. */
export function generateFields({ properties = {}, required = [] }: Schema, existing: ExistingValues) {
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, generateValue(schema, existing, name)] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...(required as string[])] });
}

const picture: fc.Arbitrary<FormFile> = fc
  .nat(1_000)
  .chain((seed) =>
    fc.constantFrom(
      { name: 'kue.png', bytes: createPng(seed) },
      { name: 'KUE lapis.JPG', bytes: createJpeg(seed) },
    ),
  );

/** Lists values that a field may have to reject: hostile, blank, or just outside a limit. The schema may allow some. */
export function listWrongValues(schema: Schema, existing: ExistingValues, seed: number): readonly unknown[] {
  const { minimum, maximum, minLength, maxLength, maxItems = 50 } = schema as Limits;
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
  const [item] = fc.sample(generateFields(items, existing), { numRuns: 1, seed });
  const wrongItems = Object.entries(items.properties).flatMap(([name, inner]) =>
    listWrongValues(inner, existing, seed).map((value) => [{ ...item, [name]: value }]),
  );
  return [...values, ...wrongItems, Array.from({ length: maxItems + 1 }, () => item)];
}
