import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { TestService } from './service.js';

/** As much of an OpenAPI 3.0 document as the tests read. */
export interface OpenApi {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly openapi: string;
  readonly servers?: readonly { readonly url: string }[];
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

export interface Operation {
  readonly operationId?: string;
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

/** The document as the service gives it. */
export async function documentOf(service: TestService): Promise<OpenApi> {
  return (await service.client().get('/api/docs-json').expect(200)).body as OpenApi;
}

/** @param name method and path: `GET /api/users` */
export function operationOf(document: OpenApi, name: string): Operation {
  const [method = '', path = ''] = name.split(' ');
  const found = document.paths[path]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${name} is not documented`);
  return found;
}

/** Every operation as `[method, path, operation]`. */
export function operationsOf(document: OpenApi): [string, string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): [string, string, Operation] => [
      method,
      path,
      operation,
    ]),
  );
}

/** The JSON of an answer or a request. */
export function jsonOf(body: Body | undefined): Media {
  const media = body?.content?.['application/json'];
  if (media === undefined) throw new Error('no JSON is documented');
  return media;
}

/** A schema with every reference replaced by what it refers to. @throws Error for one that leads nowhere */
export function resolved(document: OpenApi, schema: Schema): Schema {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value) {
      const name = /^#\/components\/schemas\/(.+)$/.exec(String(value.$ref))?.[1] ?? '';
      const named = document.components.schemas[name];
      if (named === undefined) throw new Error(`${String(value.$ref)} leads nowhere`);
      return resolve(named);
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  return resolve(schema) as Schema;
}

/** What is wrong with a value; fields that the schema does not name are wrong as well. */
export function problemsWith(document: OpenApi, schema: Schema | undefined, value: unknown): string[] {
  return schema === undefined ? ['no schema is documented'] : checkOf(document, schema)(value);
}

/** `problemsWith` for many values: the schema is compiled once. */
export function checkOf(document: OpenApi, schema: Schema): (value: unknown) => string[] {
  // OpenAPI 3.0 has words (`example`, `nullable`) that JSON Schema does not know.
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

/** The schema with no other fields allowed than those that it names. */
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
