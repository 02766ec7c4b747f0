import type { OpenAPIObject } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Response = Exclude<Operation['responses'][string], { $ref: string } | undefined>;

/**
 * Moves responses that several operations have in common to `components.responses`. Nest writes them into every operation,
 * which makes the document and the types generated from it several times as long.
 */
export function shareResponses(document: OpenAPIObject): OpenAPIObject {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path) as Operation[]);
  const uses = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, response]) => {
      // Not shared, because they differ in each operation: successes, and failures with field messages.
      if (response === undefined || '$ref' in response || Number(status) < 300) return [];
      const json = JSON.stringify(response);
      return json.includes('"details":') ? [] : [{ json, response, responses, status }];
    }),
  );
  const shared = new Map<string, Response>();
  for (const { json, response, responses, status } of uses) {
    if (uses.filter((other) => other.json === json).length === 1) continue;
    const name = nameResponse(status, response);
    const sameName = shared.get(name) ?? response;
    if (JSON.stringify(sameName) !== json) throw new Error(`two different responses are called ${name}`);
    shared.set(name, response);
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return { ...document, components: { ...document.components, responses: Object.fromEntries(shared) } };
}

/** Builds a name such as `OriginIsNotAllowed` from the description. Omits the part of each message after its comma. */
function nameResponse(status: string, { description }: Response): string {
  if (status === '304') return 'NotModified';
  const text = description.replaceAll(/,[^;]*/g, '').replaceAll(';', ' or');
  const words = text.match(/\w+/g) ?? [];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
