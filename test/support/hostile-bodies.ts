import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { ODD_NAMES, ODD_VALUES, oddText, oddValue } from './hostile-values.js';
import { type Notification, signatureKey } from './notifications.js';
import { png } from './pictures.js';

/** Stands in a good value for a text that no other request has. */
export const UNIQUE = '{unique}';

/** Good values of the fields that a route reads, so that a request with one bad field gets as far as it can. */
export type GoodFields = Readonly<Record<string, unknown>>;

/** The good fields with some of them replaced or left out, and some that nobody asked for. */
function fields(good: GoodFields): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(good);
  return fc
    .record({
      bad: fc.oneof(fc.constant<string[]>([]), fc.subarray(names, { maxLength: Math.min(2, names.length) })),
      values: fc.array(fc.option(oddValue, { nil: undefined }), { minLength: 2, maxLength: 2 }),
      extra: fc.dictionary(fc.oneof(fc.constantFrom(...ODD_NAMES), fc.string()), oddValue, { maxKeys: 3 }),
      text: fc.uuid(),
    })
    .map(({ bad, values, extra, text }) => {
      const badNow = bad.map((name, index): [string, unknown] => [name, values[index]]);
      return signed({ ...extra, ...unique(good, text), ...Object.fromEntries(badNow) }, bad);
    });
}

/** A notification signed as it stands now, so that it is not refused for its signature alone, unless that is bad. */
export function signed(body: Record<string, unknown>, bad: readonly string[]): Record<string, unknown> {
  const { order_id, status_code, gross_amount } = body;
  const isSignable = [order_id, status_code, gross_amount].every((field) => typeof field === 'string');
  return isSignable && !bad.includes('signature_key')
    ? { ...body, signature_key: signatureKey(body as Notification) }
    : body;
}

export interface TypedBody {
  readonly type: string | undefined;
  readonly bytes: Buffer;
}

export function jsonBody(good: GoodFields): fc.Arbitrary<TypedBody> {
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
    fc.constantFrom(...Object.keys(good), 'other').map((name) => deepIn(good, name)),
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

/** The good fields, one of them replaced by lists within lists: as deep as a body's size allows. */
function deepIn(good: GoodFields, name: string): string {
  const depth = 40_000;
  const body = JSON.stringify({ ...good, [name]: '{deep}' });
  return body.replace('"{deep}"', '['.repeat(depth) + ']'.repeat(depth));
}

const BOUNDARY = 'BoundaryOfTheTests';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export function formBody(good: GoodFields): fc.Arbitrary<TypedBody> {
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
    return Buffer.concat([
      ...odd.map(([name, value]) => textPart(name, value)),
      ...files.map(({ field, name, bytes }) =>
        part(`name="${field}"; filename="${inHeader(name)}"`, bytes, 'image/png'),
      ),
      formOf(content),
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
    { weight: 8, arbitrary: fc.constant(FORM_TYPE) },
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

/** A file part, as it stands before the text fields of `formOf`. */
export function filePart(name: string, bytes: Buffer): Buffer {
  return part(`name="images"; filename="${inHeader(name)}"`, bytes, 'image/png');
}

/** The text fields of a form and its end. */
export function formOf(fields: Readonly<Record<string, unknown>>): Buffer {
  const parts = Object.entries(fields).flatMap(repeated);
  return Buffer.concat([
    ...parts.map(([name, value]) => textPart(name, value)),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);
}

function textPart(name: string, value: string): Buffer {
  return part(`name="${inHeader(name)}"`, Buffer.from(value));
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

/** Bodies that are good but for one field, which takes every odd value in turn. */
export function oddFields(kind: 'json' | 'form', good: GoodFields): TypedBody[] {
  const bodies = Object.keys(good).flatMap((name) =>
    ODD_VALUES.map((value) => signed({ ...unique(good), [name]: value }, [name])),
  );
  if (kind === 'form') return bodies.map((body) => ({ type: FORM_TYPE, bytes: formOf(body) }));
  const deep = Object.keys(good).map((name) => deepIn(unique(good), name));
  return [...bodies.map((body) => JSON.stringify(body)), ...deep].map((text) => ({
    type: 'application/json',
    bytes: Buffer.from(text),
  }));
}

/** The good values, those with `UNIQUE` in them made so. */
export function unique(good: GoodFields, text: string = randomUUID()): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(good).map(([name, value]): [string, unknown] => [
      name,
      typeof value === 'string' ? value.replace(UNIQUE, text) : value,
    ]),
  );
}
