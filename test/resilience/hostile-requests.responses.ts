import { compileSchema } from '../support/openapi.js';
import type { DocumentedOperation } from './hostile-requests.requests.js';

interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Headers that every response must have. */
const HEADERS = ['x-request-id', 'x-content-type-options', 'content-security-policy', 'referrer-policy'];
/** Text that no failing response may contain: stack frames, paths, SQL, names of libraries and system calls. */
const INTERNALS =
  /\bat (?:\S+ ){0,3}\(?\S+:\d+:\d+|node_modules|\/dist\/|\/src\/|file:\/\/|\b(select|insert|update|delete)\b.+\b(from|into|set)\b|relation "|constraint|syntax error|postgres|typeorm|argon2|E(CONN|NOENT|PIPE)|unexpected token/i;
/** Compiled schemas by operation and status. */
const schemas = new Map<string, (value: unknown) => string[]>();

/** Compares a response with the OpenAPI document, and with rules that apply to every response. */
export function listViolations(documented: DocumentedOperation, response: ReceivedResponse): string[] {
  const { status, headers, body } = response;
  if (documented.operation.responses[status] === undefined) return [`status ${status} is not documented`];
  const cookies = [headers['set-cookie'] ?? []].flat();
  return [
    // Responses 5xx are documented too, but no request may cause one.
    ...(status >= 500 ? ['the service failed'] : []),
    ...HEADERS.filter((name) => headers[name] === undefined).map((name) => `no ${name}`),
    ...('x-powered-by' in headers ? ['an X-Powered-By header'] : []),
    ...cookies
      .filter((cookie) => !cookie.endsWith('; HttpOnly; Secure; SameSite=None'))
      .map((cookie) => `a cookie without the required flags: ${cookie}`),
    ...(status >= 400 && INTERNALS.test(body) ? ['the response reveals internals'] : []),
    ...listBodyViolations(documented, response),
  ];
}

function listBodyViolations(
  { name, operation }: DocumentedOperation,
  { status, headers, body }: ReceivedResponse,
): string[] {
  const content = operation.responses[status]?.content ?? {};
  const [mediaType = ''] = String(headers['content-type'] ?? '').split(';');
  if (Object.keys(content).length === 0) return body === '' ? [] : ['a body although none is documented'];
  const media = content[mediaType];
  if (media === undefined) return [`the type ${mediaType} is not documented`];
  if (mediaType !== 'application/json') return body === '' ? ['an empty file'] : [];
  const key = `${name} ${status}`;
  const check = schemas.get(key) ?? compileSchema(media.schema ?? {});
  schemas.set(key, check);
  return check(JSON.parse(body));
}
