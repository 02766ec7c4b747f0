import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { Access } from './operations.js';
import type { TestService } from './service.js';

/** Parts of an OpenAPI 3.0 document that the tests read. */
export interface OpenApi {
  readonly servers?: readonly { readonly url: string }[];
  readonly info: { readonly version: string; readonly license?: object };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

export interface Operation {
  readonly 'x-access': Access;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Body {
  readonly content?: Readonly<Record<string, Media>>;
}

interface Media {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Reads the document of a service and replaces each reference by its target. */
export async function readOpenApi(service: Pick<TestService, 'client'>): Promise<OpenApi> {
  const document = (await service.client().get('/api/docs-json').expect(200)).body as OpenApi;
  return replaceReferences(document, document.components) as OpenApi;
}

export function extractOperations(document: OpenApi) {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => [method, path, operation] as const),
  );
}

/** Compiles a schema. Returns a function that lists a value's violations. An undocumented field is a violation too. */
export function compileSchema(schema: Schema): (value: unknown) => string[] {
  // OpenAPI 3.0 has keywords (`example`, `nullable`) that JSON Schema does not define.
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(forbidAdditionalFields(schema));
  return (value) => {
    validate(value);
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  };
}

function replaceReferences(root: object, components: OpenApi['components']): unknown {
  return transform(root, (value) => {
    if (!('$ref' in value)) return value;
    const [, , kind = '', name = ''] = String(value.$ref).split('/'); // such as `#/components/schemas/UserView`
    const target = components[kind]?.[name];
    if (target === undefined) throw new Error(`${String(value.$ref)} does not exist`);
    return replaceReferences(target, components) as object;
  });
}

function forbidAdditionalFields(schema: Schema): Schema {
  return transform(schema, (value) => {
    const isObject = 'type' in value && value.type === 'object' && 'properties' in value;
    const hasProperties = isObject && Object.keys(value.properties as object).length > 0;
    return hasProperties ? { additionalProperties: false, ...value } : value;
  }) as Schema;
}

/** Copies a JSON value and replaces its objects, inner objects first. */
function transform(value: unknown, replace: (value: object) => object): unknown {
  if (Array.isArray(value)) return value.map((entry) => transform(entry, replace));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, entry]) => [key, transform(entry, replace)]);
  return replace(Object.fromEntries(entries) as object);
}
