import type { OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
type SchemaOrReference = Schemas[string];

/** A body of a request or an answer, by media type. */
type Content = Record<string, { schema?: SchemaOrReference; example?: unknown; examples?: object }>;

/** Gives every body without an example the one that the examples of its fields make up; changes the document. */
export function addExamples(document: OpenAPIObject): OpenAPIObject {
  const schemas = document.components?.schemas ?? {};
  for (const content of contentsOf(document)) {
    for (const media of Object.values(content)) {
      if (media.schema === undefined || media.examples !== undefined) continue;
      const example = exampleOf(media.schema, schemas);
      if (example !== undefined) media.example ??= example;
    }
  }
  return document;
}

function contentsOf(document: OpenAPIObject): Content[] {
  const operations = Object.values(document.paths).flatMap(({ get, post, put, patch, delete: remove }) =>
    [get, post, put, patch, remove].filter((operation) => operation !== undefined),
  );
  return operations
    .flatMap(({ requestBody, responses }) => [requestBody, ...Object.values(responses)])
    .flatMap((body) => (body !== undefined && 'content' in body ? [body.content as Content] : []));
}

/** Undefined where nothing is known to show: a file. */
function exampleOf(schema: SchemaOrReference, schemas: Schemas): unknown {
  if ('$ref' in schema) {
    const named = schemas[schema.$ref.replace('#/components/schemas/', '')];
    return named === undefined ? undefined : exampleOf(named, schemas);
  }
  if (schema.example !== undefined) return schema.example as unknown;
  if (schema.enum !== undefined) return schema.enum[0] as unknown;
  if (schema.type === 'array') {
    const item = schema.items === undefined ? undefined : exampleOf(schema.items, schemas);
    return item === undefined ? undefined : [item];
  }
  if (schema.type !== 'object') return undefined;
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    name,
    exampleOf(field, schemas),
  ]);
  return Object.fromEntries(fields.filter(([, example]) => example !== undefined));
}
