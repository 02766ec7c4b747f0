import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { Access } from './operations.js';
import type { TestService } from './service.js';

/** Parts of an OpenAPI 3.0 document that the tests read. */
export interface OpenApi {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly openapi: string;
  readonly servers?: readonly { readonly url: string }[];
  readonly info: { readonly title: string; readonly version: string; readonly license?: object };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Body>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

export interface Operation {
  readonly operationId?: string;
  readonly 'x-access': Access;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body & { readonly description: string }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

export interface Body {
  readonly content?: Readonly<Record<string, Media>>;
  readonly headers?: Readonly<Record<string, object>>;
}

export interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Reads the document of a service and replaces references to shared responses by these responses. */
export async function documentOf(service: Pick<TestService, 'client'>): Promise<OpenApi> {
  const document = (await service.client().get('/api/docs-json').expect(200)).body as OpenApi;
  const shared = document.components.responses;
  const inlined = JSON.stringify(document, (_key, value: unknown) => {
    const reference =
      typeof value === 'object' && value !== null && '$ref' in value ? String(value.$ref) : '';
    const [, name] = /^#\/components\/responses\/(.+)$/.exec(reference) ?? [];
    return name === undefined ? value : shared[name];
  });
  return JSON.parse(inlined) as OpenApi;
}

/** @param name method and path: `GET /api/users` */
export function operationOf(document: OpenApi, name: string): Operation {
  const [method = '', path = ''] = name.split(' ');
  const found = document.paths[path]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${name} is not documented`);
  return found;
}

/** Lists every operation as `[method, path, operation]`. */
export function operationsOf(document: OpenApi): [string, string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): [string, string, Operation] => [
      method,
      path,
      operation,
    ]),
  );
}

/** Returns the JSON content of a response or a request. */
export function jsonOf(body: Body | undefined): Media {
  const media = body?.content?.['application/json'];
  if (media === undefined) throw new Error('no JSON is documented');
  return media;
}

/** Replaces every reference in a schema by its target. @throws Error if a target does not exist */
export function resolved(document: OpenApi, schema: Schema): Schema {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value) {
      const name = /^#\/components\/schemas\/(.+)$/.exec(String(value.$ref))?.[1] ?? '';
      const named = document.components.schemas[name];
      if (named === undefined) throw new Error(`${String(value.$ref)} does not exist`);
      return resolve(named);
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  return resolve(schema) as Schema;
}

/** Lists the violations of a schema by a value. Fields that are missing from the schema are violations too. */
export function problemsWith(document: OpenApi, schema: Schema | undefined, value: unknown): string[] {
  return schema === undefined ? ['no schema is documented'] : checkOf(document, schema)(value);
}

/** Compiles a schema once for several values; see `problemsWith`. */
export function checkOf(document: OpenApi, schema: Schema): (value: unknown) => string[] {
  // OpenAPI 3.0 has keywords (`example`, `nullable`) that JSON Schema does not define.
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(closed(resolved(document, schema)));
  return (value) => {
    validate(value);
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  };
}

/** Copies a schema so that it forbids additional fields. */
function closed(schema: Schema): Schema {
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close);
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, close(entry)]));
    const isObject = 'type' in value && value.type === 'object' && 'properties' in value;
    const isOpen = !isObject || Object.keys(value.properties as object).length === 0;
    return isOpen ? inner : { additionalProperties: false, ...inner };
  };
  return close(schema) as Schema;
}
