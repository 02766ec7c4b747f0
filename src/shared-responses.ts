import type { OpenAPIObject } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Response = Exclude<Operation['responses'][string], { $ref: string } | undefined>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/**
 * Moves responses that several operations have in common to `components.responses`. Nest writes them into every operation,
 * which makes the document and the types generated from it several times as long.
 */
export function shareResponses(document: OpenAPIObject): OpenAPIObject {
  const shared: Record<string, Response> = {};
  for (const [name, { response, uses }] of collectResponses(document)) {
    if (uses.length === 1) continue;
    shared[name] = response;
    for (const { responses, status } of uses) responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return { ...document, components: { ...document.components, responses: shared } };
}

interface Candidate {
  readonly response: Response;
  readonly uses: { readonly responses: Operation['responses']; readonly status: string }[];
}

/** Groups equal responses by name. Responses with messages of fields are left out, because they differ in each operation. */
function collectResponses({ paths }: OpenAPIObject): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>();
  const operations = Object.values(paths).flatMap((item) => METHODS.map((method) => item[method]));
  for (const { responses } of operations.filter((operation) => operation !== undefined)) {
    for (const [status, response] of Object.entries(responses)) {
      if (response === undefined || '$ref' in response || Number(status) < 300) continue;
      const isOfFields = JSON.stringify(response).includes('"details":');
      if (isOfFields) continue;
      const name = nameResponse(status, response);
      const candidate = candidates.get(name) ?? { response, uses: [] };
      candidates.set(name, candidate);
      candidate.uses.push({ responses, status });
    }
  }
  return candidates;
}

/** Builds a name such as `OriginIsNotAllowed` from the messages of a response, each up to its first comma. */
function nameResponse(status: string, { description }: Response): string {
  if (status === '304') return 'NotModified';
  const words =
    description
      .replaceAll(/,[^;]*/g, '')
      .replaceAll(';', ' or')
      .match(/\w+/g) ?? [];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
