import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { checkOf, type OpenApi } from '../support/openapi.js';
import type { RandomRequest, Target } from './random-requests.requests.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Longest that an answer may take: Argon2 for several at once on a busy machine. */
const ANSWER_DEADLINE_MS = 15_000;
/** Of every answer. */
const HEADERS = ['x-request-id', 'x-content-type-options', 'content-security-policy', 'referrer-policy'];
/** Text that no failing response may contain: stack frames, paths, SQL, names of libraries and system calls. */
const LEAK =
  /\bat .+:\d+:\d+|node_modules|\/dist\/|\/src\/|file:\/\/|\b(select|insert|update|delete)\b.+\b(from|into|set)\b|relation "|constraint|syntax error|postgres|typeorm|argon2|E(CONN|NOENT|PIPE)|unexpected token/i;
/** Responses to bodies that cannot be parsed. JSON is parsed for every operation, also for those without a body. */
const UNREADABLE = [400, 413, 415];

const agent = new Agent({ keepAlive: true });

export function closeConnections(): void {
  agent.destroy();
}

export async function send(url: string, { body, headers, ...target }: RandomRequest): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { hostname, port, agent, ...target };
    const outgoing = request(
      { ...options, headers: { ...headers, 'Content-Length': body.length } },
      (response) => {
        text(response).then((received) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received });
        }, reject);
      },
    );
    outgoing.setTimeout(ANSWER_DEADLINE_MS, () =>
      outgoing.destroy(new Error(`not answered within ${ANSWER_DEADLINE_MS} ms`)),
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Compares answers with the document. */
export class Judge {
  /** One for each operation and status. */
  readonly #checks = new Map<string, (value: unknown) => string[]>();

  constructor(private readonly document: OpenApi) {}

  /** @returns what is wrong with an answer */
  problemsWith(target: Target, answer: Answer): string[] {
    const { status, headers, body } = answer;
    const documented = target.operation.responses[status];
    const isUnreadable = target.type === '' && UNREADABLE.includes(status);
    if (documented === undefined && !isUnreadable) return [`status ${status} is not documented`];
    const cookies = [headers['set-cookie'] ?? []].flat();
    return [
      // Failures of the service itself are documented too, but not as responses to a valid request.
      ...(status >= 500 ? ['a failure of the service'] : []),
      ...HEADERS.filter((name) => headers[name] === undefined).map((name) => `no ${name}`),
      ...('x-powered-by' in headers ? ['X-Powered-By'] : []),
      ...cookies.filter((cookie) => !cookie.endsWith('; HttpOnly; Secure; SameSite=None')),
      ...(status >= 400 && LEAK.test(body) ? ['the answer tells of the inside'] : []),
      ...(isUnreadable ? [] : this.#bodyProblems(target, answer)),
    ];
  }

  #bodyProblems({ name, operation }: Target, { status, headers, body }: Answer): string[] {
    const content = operation.responses[status]?.content ?? {};
    const [type = ''] = String(headers['content-type'] ?? '').split(';');
    if (Object.keys(content).length === 0) return body === '' ? [] : ['a body where none is documented'];
    const media = content[type];
    if (media === undefined) return [`the type ${type} is not documented`];
    if (type !== 'application/json') return body === '' ? ['an empty file'] : [];
    const key = `${name} ${status}`;
    const check = this.#checks.get(key) ?? checkOf(this.document, media.schema ?? {});
    this.#checks.set(key, check);
    return check(JSON.parse(body));
  }
}
