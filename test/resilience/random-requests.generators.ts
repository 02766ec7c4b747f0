import fc from 'fast-check';
import {
  filePart,
  FORM_TYPE,
  formOf,
  type GoodFields,
  signed,
  UNIQUE,
  unique,
} from '../support/hostile-bodies.js';
import { ODD_VALUES } from '../support/hostile-values.js';
import { type HostileRequest, hostileRequests } from '../support/hostile.js';
import { type OpenApi, type Operation, type Parameter, resolved, type Schema } from '../support/openapi.js';
import { htmlNamedPng, jpeg, padded, png, svgNamedPng } from '../support/pictures.js';
import { type Caller, CALLERS, STOREFRONT, type World } from './random-requests.world.js';

/** One operation of the document with what requests to it are made of. */
export interface Target {
  /** `POST /api/orders` */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly kind: 'json' | 'form' | 'none';
  /** Of the body: an object. */
  readonly schema: Schema;
}

/** A request of a random kind, and what it was meant to be. */
export interface RandomRequest extends HostileRequest {
  readonly intent: 'valid' | 'nearly valid' | 'hostile';
  readonly caller: Caller;
}

type Values = Readonly<Record<string, unknown>>;

export function targetsOf(document: OpenApi): Target[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Target => {
      const content = operation.requestBody?.content ?? {};
      const [type = ''] = Object.keys(content);
      const kind = type === 'application/json' ? 'json' : type === 'multipart/form-data' ? 'form' : 'none';
      return {
        name: `${method.toUpperCase()} ${path}`,
        method,
        path,
        operation,
        kind,
        schema: resolved(document, content[type]?.schema ?? {}),
      };
    }),
  );
}

/** Requests to an operation: a third valid, a third wrong in one place, a third of what no client would send. */
export function requestsTo(target: Target, world: World): fc.Arbitrary<RandomRequest> {
  return fc.oneof(
    { weight: 3, arbitrary: wellFormed(target, world, 'valid') },
    { weight: 4, arbitrary: wellFormed(target, world, 'nearly valid') },
    { weight: 3, arbitrary: hostile(target, world) },
  );
}

const caller: fc.Arbitrary<Caller> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Caller>('customer', 'admin') },
  { weight: 1, arbitrary: fc.constantFrom(...CALLERS) },
);

function hostile(target: Target, { cookies, known }: World): fc.Arbitrary<RandomRequest> {
  const good = goodFields(target, known);
  return caller.chain((who) =>
    hostileRequests(cookies[who], { kind: target.kind, good }).map((request) => ({
      ...request,
      intent: 'hostile' as const,
      caller: who,
    })),
  );
}

/** Good values of every field that the document names: known ones, else its example. */
export function goodFields({ schema, name }: Target, known: World['known']): GoodFields {
  const entries = Object.entries(schema.properties ?? {}).filter(([field]) => field !== 'images');
  return Object.fromEntries(
    entries.map(([field, inner]) => {
      if (field === 'email' && isForNewEmail(name)) return [field, `${UNIQUE}@example.com`];
      if (field === 'items') return [field, [{ product_id: known.product_id?.[0], quantity: 2 }]];
      return [field, field === 'name' ? inner.example : (known[field]?.[0] ?? exampleOf(inner))];
    }),
  );
}

function isForNewEmail(name: string): boolean {
  return name === 'POST /api/register' || name === 'PATCH /api/users';
}

function exampleOf(schema: Schema): unknown {
  return schema.example ?? (schema.enum as unknown[] | undefined)?.[0] ?? 'x';
}

/** A request as the document describes it; a nearly valid one is wrong in one field, parameter or file. */
function wellFormed(
  target: Target,
  { cookies, known }: World,
  intent: 'valid' | 'nearly valid',
): fc.Arbitrary<RandomRequest> {
  const { parameters = [] } = target.operation;
  const fields = Object.keys(target.schema.properties ?? {});
  const places = [...parameters.map(({ name }) => name), ...fields];
  const wrong =
    intent === 'valid' || places.length === 0 ? fc.constant(undefined) : fc.constantFrom(...places);
  return fc
    .record({ who: caller, wrong, text: fc.uuid(), origin: fc.constantFrom(undefined, STOREFRONT) })
    .chain(({ who, wrong: place, text, origin }) =>
      fc
        .record({
          parameters: fc.record(
            Object.fromEntries(
              parameters.map((parameter) => [parameter.name, parameterValue(parameter, known, place)]),
            ),
          ),
          body: fc.record(
            Object.fromEntries(
              Object.entries(target.schema.properties ?? {})
                .filter(([field]) => field !== 'images')
                .map(([field, schema]) => [field, fieldValue(target, field, schema, known, place)]),
            ),
          ),
          files: place === 'images' ? oddFiles : goodFiles,
        })
        .map(({ parameters: values, body, files }): RandomRequest => {
          const sent = signed(unique(body, text), place === undefined ? [] : [place]);
          return {
            ...wire(target, parameters, values, sent, files),
            headers: {
              ...headersOf(parameters, values),
              ...(cookies[who] !== '' && { Cookie: cookies[who] }),
              ...(origin !== undefined && { Origin: origin }),
              ...(target.kind === 'json' && { 'Content-Type': 'application/json' }),
              ...(target.kind === 'form' && { 'Content-Type': FORM_TYPE }),
            },
            intent,
            caller: who,
          };
        }),
    );
}

function fieldValue(
  { name }: Target,
  field: string,
  schema: Schema,
  known: World['known'],
  wrong: string | undefined,
): fc.Arbitrary<unknown> {
  if (field === wrong) return wrongValue(schema, known);
  // A product's name is none of the names that an image is found by.
  if (field === 'name') return validValue(schema, known);
  if (field === 'email' && isForNewEmail(name)) {
    return fc.oneof(
      { weight: 3, arbitrary: fc.constant<unknown>(`${UNIQUE}@example.com`) },
      fc.constantFrom(...(known.email ?? [])),
    );
  }
  return validValue(schema, known, field);
}

/** Values that the schema allows: what there is for a field of this name, and the schema's own limits. */
function validValue(schema: Schema, known: World['known'], name = ''): fc.Arbitrary<unknown> {
  const own = ownValues(schema, known);
  const values = known[name];
  return values === undefined || values.length === 0
    ? own
    : fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values) }, own);
}

function ownValues(schema: Schema, known: World['known']): fc.Arbitrary<unknown> {
  const { type, minimum = 0, maximum = 2 ** 31 - 1, minItems = 0, maxItems = 3 } = schema as Limits;
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (schema.format === 'uuid') return fc.uuid();
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern));
  if (type === 'integer' || type === 'number') {
    return fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: maximum }));
  }
  if (type === 'boolean') return fc.boolean();
  if (type === 'array') {
    const items = validObject((schema.items ?? {}) as Schema, known);
    return fc.array(items, { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) });
  }
  const { minLength = 0, maxLength = 300 } = schema as Limits;
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(exampleOf(schema)) },
    fc.constantFrom('x'.repeat(Math.max(1, minLength)), 'x'.repeat(maxLength)),
    fc.string({ unit: 'grapheme', minLength: Math.max(1, minLength), maxLength: Math.min(maxLength, 60) }),
  );
}

function validObject(schema: Schema, known: World['known']): fc.Arbitrary<unknown> {
  if (schema.properties === undefined) return ownValues(schema, known);
  return fc.record(
    Object.fromEntries(
      Object.entries(schema.properties).map(([field, inner]) => [field, validValue(inner, known, field)]),
    ),
  );
}

/** The schema's words for limits. */
interface Limits {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Missing, of another type, one beyond a limit, or odd. Some turn out to be allowed after all. */
function wrongValue(schema: Schema, known: World['known']): fc.Arbitrary<unknown> {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, type } = schema as Limits;
  const beyond: unknown[] = [
    ...(minimum === undefined ? [] : [minimum - 1, minimum - 0.5]),
    ...(maximum === undefined ? [] : [maximum + 1, maximum + 0.5]),
    ...(minLength === undefined ? [] : ['x'.repeat(minLength - 1), ' '.repeat(minLength)]),
    ...(maxLength === undefined
      ? []
      : ['x'.repeat(maxLength + 1), '💥'.repeat(maxLength), 'x'.repeat(maxLength)]),
  ];
  const odd = fc.constantFrom<unknown>(undefined, ...beyond, ...ODD_VALUES);
  if (type !== 'array')
    return fc.oneof({ weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, ...beyond) }, odd);
  const items = (schema.items ?? {}) as Schema;
  const one = validObject(items, known);
  const counts = [Math.max(0, (minItems ?? 0) - 1), (maxItems ?? 50) + 1, 3_000];
  const wrongItem = fc.oneof(
    odd,
    ...Object.entries(items.properties ?? {}).map(([field, inner]) =>
      fc
        .tuple(one, wrongValue(inner, known))
        .map(([item, value]) => ({ ...(item as object), [field]: value })),
    ),
  );
  return fc.oneof(
    odd,
    fc
      .tuple(one, fc.constantFrom(...counts))
      .map(([item, count]) => Array.from({ length: count }, () => item)),
    fc.tuple(fc.array(one, { maxLength: 2 }), wrongItem).map(([good, bad]): unknown[] => [...good, bad]),
  );
}

const ODD_PARAMETERS = [
  '',
  '0',
  '-1',
  '1.5',
  '1e1',
  '9'.repeat(30),
  'x',
  '%00',
  '%ff',
  '%2e%2e%2f',
  ' ',
  'NaN',
  '٣',
];

function parameterValue(
  { name, in: where, required = false, schema = {} }: Parameter,
  known: World['known'],
  wrong: string | undefined,
): fc.Arbitrary<string | undefined> {
  const valid = validValue(schema, known, where === 'query' ? '' : name).map((value) =>
    where === 'header' ? headerSafe(String(value)) : encoded(String(value)),
  );
  if (name !== wrong) return required ? valid : fc.option(valid, { nil: undefined });
  const { maxLength } = schema as Limits;
  const odd = [
    ...ODD_PARAMETERS,
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength), 'x'.repeat(maxLength + 1)]),
  ];
  return fc
    .constantFrom(...(where === 'path' ? odd.map((text) => text || '%20') : odd))
    .map((text) =>
      where === 'header' ? headerSafe(text) : /^%|^[\w.-]*$/.test(text) ? text : encoded(text),
    );
}

function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

function headerSafe(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e]/g, '?').trim() || 'x';
}

function headersOf(parameters: readonly Parameter[], values: Values): Record<string, string> {
  const given = parameters.filter(({ name, in: where }) => where === 'header' && values[name] !== undefined);
  return Object.fromEntries(given.map(({ name }) => [name, String(values[name])]));
}

interface NamedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

const MIB = 1024 * 1024;
const picture: fc.Arbitrary<NamedFile> = fc
  .nat(1_000)
  .chain((seed) =>
    fc.constantFrom(
      { name: 'kue.png', bytes: png(seed) },
      { name: 'KUE.JPG', bytes: jpeg(seed) },
      { name: 'kue lapis.jpeg', bytes: jpeg(seed) },
    ),
  );
const goodFiles = fc.array(picture, { maxLength: 2 });
const oddFiles: fc.Arbitrary<NamedFile[]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(
        { name: 'kue.gif', bytes: png() },
        { name: 'kue', bytes: png() },
        { name: '../../kue.png', bytes: png() },
        { name: 'kue.png', bytes: Buffer.alloc(0) },
        { name: 'kue.png', bytes: svgNamedPng() },
        { name: 'kue.jpg', bytes: htmlNamedPng() },
        { name: 'kue.png', bytes: png().subarray(0, 7) },
        { name: 'kue.jpg', bytes: png() },
        { name: 'kue.png\0.html', bytes: jpeg() },
      )
      .map((file) => [file]),
  },
  fc.array(picture, { minLength: 6, maxLength: 12 }),
  fc.constantFrom(5 * MIB, 5 * MIB + 1).map((size) => [{ name: 'big.png', bytes: padded(png(), size) }]),
);

function wire(
  { kind }: Target,
  parameters: readonly Parameter[],
  values: Values,
  body: Values,
  files: readonly NamedFile[],
): Pick<RandomRequest, 'parameters' | 'query' | 'body'> {
  const named = (where: string) =>
    parameters.filter(({ name, in: place }) => place === where && values[name] !== undefined);
  const query = named('query').map(({ name }) => `${name}=${String(values[name])}`);
  const content =
    kind === 'json'
      ? Buffer.from(JSON.stringify(body))
      : Buffer.concat([
          ...files.map(({ name, bytes }) => filePart(name, bytes)),
          formOf(withoutMissing(body)),
        ]);
  return {
    parameters: named('path').map(({ name }) => String(values[name])),
    query: query.length === 0 ? '' : `?${query.join('&')}`,
    body: kind === 'none' ? Buffer.alloc(0) : content,
  };
}

function withoutMissing(body: Values): Values {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}
