import fc from 'fast-check';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type Notification, computeSignature } from '../support/notifications.js';
import { operationsOf, type OpenApi, type Operation, resolved, type Schema } from '../support/openapi.js';
import { jpeg, png } from '../support/pictures.js';
import type { FormFile } from '../support/products.js';
import { BOUNDARY, formPieces } from '../support/upload-load.js';
import * as odd from './random-requests.odd.js';

/** An operation of the document. */
export interface Target {
  /** `POST /api/orders` */
  readonly name: string;
  readonly operation: Operation;
  readonly type: string;
  /** Fields of the body. */
  readonly fields: Readonly<Record<string, Schema>>;
}

export interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Ids and names that requests can refer to. */
export interface World {
  /** Cookie headers by caller. */
  readonly cookies: Readonly<Record<string, string>>;
  /** Values that exist, by the name of a parameter or field. */
  readonly known: Readonly<Record<string, readonly unknown[]>>;
}

interface Limits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

type Values = Readonly<Record<string, unknown>>;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';

export function targetsOf(document: OpenApi): Target[] {
  return operationsOf(document).map(([method, path, operation]) => {
    const [[type, { schema = {} }] = ['', {}]] = Object.entries(operation.requestBody?.content ?? {});
    const { properties: fields = {} } = resolved(document, schema);
    return { name: `${method.toUpperCase()} ${path}`, operation, type, fields };
  });
}

/** Values that a schema allows; those that exist under this name are the most likely. */
function valid(schema: Schema, { known }: World, name = ''): fc.Arbitrary<unknown> {
  const own = generateAllowed(schema, { cookies: {}, known });
  const values = known[name] ?? [];
  return values.length === 0 ? own : fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values) }, own);
}

function generateAllowed(schema: Schema, world: World): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 2 ** 31 - 1, minItems = 0, maxLength = 300 } = schema as Limits;
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (schema.format === 'uuid') return fc.uuid();
  if (schema.format === 'email') return fc.uuid().map((id) => `${id}@example.com`);
  if (schema.format === 'binary') return picture;
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern));
  if (schema.type === 'integer' || schema.type === 'number') return fc.integer({ min, max });
  if (schema.type === 'array') {
    const item = valid(schema.items as Schema, world);
    return fc.array(item, { minLength: minItems, maxLength: minItems + 2 });
  }
  if (schema.properties !== undefined) return validFields(schema.properties, world);
  return fc.oneof(
    fc.constantFrom(schema.example ?? 'x', 'x'.repeat(maxLength)),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: Math.min(maxLength, 60) }),
  );
}

const validFields = (fields: Readonly<Record<string, Schema>>, world: World): fc.Arbitrary<Values> =>
  fc.record(
    Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, valid(inner, world, name)])),
  );

const picture: fc.Arbitrary<FormFile> = fc
  .nat(1_000)
  .chain((seed) =>
    fc.constantFrom({ name: 'kue.png', bytes: png(seed) }, { name: 'KUE lapis.JPG', bytes: jpeg(seed) }),
  );

/** Missing, one beyond a limit, or odd. Some are allowed after all. */
function wrongValues(schema: Schema, world: World): readonly unknown[] {
  const { minimum, maximum, minLength, maxLength, maxItems = 50 } = schema as Limits;
  const items = schema.items as Schema | undefined;
  if (items?.format === 'binary') return odd.ODD_FILES;
  const values = [
    ...odd.ODD_VALUES,
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength === undefined ? [] : [' '.repeat(minLength)]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1), '💥'.repeat(maxLength)]),
  ];
  if (items?.properties === undefined) return values;
  const [item] = fc.sample(validFields(items.properties, world), 1);
  const wrongItems = Object.entries(items.properties).flatMap(([name, inner]) =>
    wrongValues(inner, world).map((value) => [{ ...item, [name]: value }]),
  );
  return [...values, ...wrongItems, Array.from({ length: maxItems + 1 }, () => item)];
}

/** Every field and parameter of the operation with each value that is wrong for it, and fields that it does not have. */
export function requestsWithOneWrongValue(target: Target, world: World, seed: number): RandomRequest[] {
  const { operation, fields, name, type } = target;
  const caller = /\/(products|admin)/.test(name) ? 'admin' : 'customer';
  const places: (readonly [string, readonly unknown[]])[] = [
    ...(operation.parameters ?? []).map((parameter) => [parameter.name, odd.ODD_PARAMETERS] as const),
    ...Object.entries(fields).map(([field, schema]) => [field, wrongValues(schema, world)] as const),
    ...(type === '' ? [] : odd.ODD_NAMES.map((extra) => [extra, ['ADMIN']] as const)),
  ];
  return places.flatMap(([place, values]) =>
    values.flatMap((value, index) =>
      fc.sample(validRequests(target, world, [caller], { place, value }), {
        numRuns: 1,
        seed: seed + index,
      }),
    ),
  );
}

/** @param wrong a value to be sent for this parameter or field */
export function validRequests(
  target: Target,
  world: World,
  callers: readonly string[] = ['customer', 'customer', 'admin', 'admin', ...Object.keys(world.cookies)],
  wrong?: { readonly place: string; readonly value: unknown },
): fc.Arbitrary<RandomRequest> {
  const { operation, fields, name, type } = target;
  const { parameters = [] } = operation;
  const [method = '', path = ''] = name.split(' ');
  const parameterValues = parameters.map(({ name: key, in: where, required = false, schema = {} }) => {
    const value = valid(schema, world, where === 'query' ? '' : key).map((it) =>
      encodeURIComponent(String(it)),
    );
    return [key, required ? value : fc.option(value, { nil: undefined })] as const;
  });
  // A registration with an existing address is rejected. `known` lists the fields of the other operations.
  const isNewEmail = name === 'POST /api/register' || name === 'PATCH /api/users';
  const fieldValues = validFields(
    fields,
    isNewEmail ? { ...world, known: { ...world.known, email: [] } } : world,
  );
  return fc
    .record({
      caller: fc.constantFrom(...callers),
      values: fc.record(Object.fromEntries(parameterValues)),
      body: fieldValues,
    })
    .map(({ caller, values: validValues, body }): RandomRequest => {
      const isParameter = parameters.some(({ name: key }) => key === wrong?.place);
      const change = wrong === undefined ? {} : { [wrong.place]: wrong.value };
      const values: Values = isParameter ? { ...validValues, ...change } : validValues;
      const sent = signBody(isParameter ? body : { ...body, ...change }, wrong?.place);
      const given = (where: string) =>
        parameters
          .filter(({ name: key, in: place }) => place === where && values[key] !== undefined)
          .map(({ name: key }) => [key, String(values[key])] as const);
      const query = given('query').map(([key, value]) => `${key}=${value}`);
      const { [caller]: cookie = '' } = world.cookies;
      return {
        method,
        path:
          path.replaceAll(/\{(\w+)\}/g, (_, key: string) => String(values[key]) || '%20') +
          (query.length === 0 ? '' : `?${query.join('&')}`),
        headers: {
          ...Object.fromEntries(given('header').map(([key, value]) => [key, value || 'x'])),
          ...(cookie !== '' && { Cookie: cookie }),
          ...(type !== '' && { 'Content-Type': type === FORM_TYPE ? `${type}; boundary=${BOUNDARY}` : type }),
        },
        body: encodeBody(type, sent),
      };
    });
}

/** Valid requests of which some parts are replaced by what no client of ours sends. */
export function hostileRequests(target: Target, world: World): fc.Arbitrary<RandomRequest> {
  const headers = fc.record(
    Object.fromEntries(
      Object.entries(odd.ODD_HEADERS).map(([name, values]) => [name, fc.constantFrom(...values)]),
    ),
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    fc.constantFrom(...odd.ODD_BODIES).map((text) => Buffer.from(text)),
    fc.json({ maxDepth: 3, stringUnit: 'binary' }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
  const changes = fc.record(
    {
      headers,
      query: fc.constantFrom(...odd.ODD_QUERIES),
      type: fc.constantFrom(...odd.ODD_TYPES),
      body,
      cutAt: fc.nat(400),
      encoding: fc.constantFrom('gzip', 'br', 'zip', 'a lie'),
    },
    { requiredKeys: [] },
  );
  return fc.tuple(validRequests(target, world), changes).map(([request, change]) => {
    const bytes = (change.body ?? request.body).subarray(0, change.cutAt);
    return {
      ...request,
      path: request.path + (request.path.includes('?') ? '' : (change.query ?? '')),
      headers: {
        ...request.headers,
        ...change.headers,
        ...(change.type !== undefined && { 'Content-Type': change.type }),
        ...(change.encoding !== undefined && bytes.length > 0 && { 'Content-Encoding': change.encoding }),
      },
      body:
        change.encoding === 'gzip'
          ? gzipSync(bytes)
          : change.encoding === 'br'
            ? brotliCompressSync(bytes)
            : bytes,
    };
  });
}

/** Signs a notification again, so that it is not rejected for its signature alone. */
function signBody(body: Values, wrong: string | undefined): Values {
  const { order_id, status_code, gross_amount } = body;
  const isNotification = [order_id, status_code, gross_amount].every((field) => typeof field === 'string');
  return isNotification && wrong !== 'signature_key'
    ? { ...body, signature_key: computeSignature(body as Notification) }
    : body;
}

function encodeBody(type: string, fields: Values): Buffer {
  if (type === JSON_TYPE) return Buffer.from(JSON.stringify(fields));
  if (type !== FORM_TYPE) return Buffer.alloc(0);
  const { images = [], ...texts } = fields;
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const entries = Object.entries(texts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string[]] => [name, [value].flat().map(textOf)]);
  return Buffer.concat(formPieces(Object.fromEntries(entries), images as FormFile[]));
}
