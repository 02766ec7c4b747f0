import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { HostileRequest } from '../support/hostile.js';
import { checkOf, type OpenApi } from '../support/openapi.js';
import type { Target } from './random-requests.generators.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Longest that an answer may take: Argon2 for several at once on a busy machine, or a gateway that hangs. */
const ANSWER_DEADLINE_MS = 15_000;

/** Of every answer but for those of the HTTP parser. */
const SECURITY_HEADERS: Readonly<Record<string, RegExp>> = {
  'x-request-id': /^[\w.:-]{1,128}$/,
  'x-content-type-options': /^nosniff$/,
  'x-frame-options': /^SAMEORIGIN$/,
  'content-security-policy': /default-src/,
  'strict-transport-security': /max-age=\d{8}/,
  'referrer-policy': /^no-referrer$/,
};
const FORBIDDEN_HEADERS = [
  'x-powered-by',
  'retry-after',
  'x-ratelimit-limit',
  'ratelimit',
  'ratelimit-limit',
];

/** What a failing answer must not say: frames and paths, SQL, names of libraries and of system calls. */
const LEAK =
  /\bat .+:\d+:\d+|node_modules|\/dist\/|\/src\/|file:\/\/|\b(select|insert|update|delete)\b.+\b(from|into|set)\b|relation "|constraint|syntax error|postgres|typeorm|argon2|E(CONN|NOENT|PIPE)|unexpected token/i;

/** What a body is refused with that cannot be parsed. */
const UNREADABLE = new Set([400, 413, 415]);

const agent = new Agent({ keepAlive: true });

export function closeConnections(): void {
  agent.destroy();
}

/** Path and query of a request. */
export function pathOf({ path }: Target, { parameters, query }: HostileRequest): string {
  let next = 0;
  return path.replaceAll(/\{\w+\}/g, () => parameters[next++] ?? '1') + query;
}

export async function send(url: string, target: Target, sent: HostileRequest): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        agent,
        method: target.method.toUpperCase(),
        path: pathOf(target, sent),
        headers: { ...sent.headers, 'Content-Length': sent.body.length },
      },
      (response) => {
        buffer(response).then((bytes) => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, body: bytes.toString() });
        }, reject);
      },
    );
    outgoing.setTimeout(ANSWER_DEADLINE_MS, () =>
      outgoing.destroy(new Error(`not answered within ${ANSWER_DEADLINE_MS} ms`)),
    );
    outgoing.on('error', reject);
    outgoing.end(sent.body);
  });
}

/** Holds every answer against the document and counts what was answered. */
export class Judge {
  readonly #checks = new Map<string, (value: unknown) => string[]>();
  /** How often each `POST /api/orders 201` was answered. */
  readonly counts = new Map<string, number>();

  constructor(private readonly document: OpenApi) {}

  /** Answers so far for which the predicate holds. */
  count(holds: (status: number) => boolean = () => true): number {
    return [...this.counts].reduce(
      (sum, [key, count]) => (holds(Number(key.split(' ').at(-1))) ? sum + count : sum),
      0,
    );
  }

  /** Counts an answer. @returns what is wrong with it */
  judge(target: Target, sent: HostileRequest, answer: Answer): string[] {
    const { status, headers, body } = answer;
    const key = `${target.name} ${status}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    const documented = target.operation.responses[status];
    // JSON is parsed for every operation, also for one that takes no body.
    if (target.kind === 'none' && sent.body.length > 0 && UNREADABLE.has(status))
      return headerProblems(headers);
    if (documented === undefined) return [`status ${status} is not documented`];
    return [
      ...headerProblems(headers),
      ...this.#bodyProblems(target, answer),
      ...cookieProblems(target, headers, documented.headers?.['Set-Cookie'] !== undefined),
      ...(status === 304 && sent.headers['If-None-Match'] === undefined
        ? ['a 304 that nobody asked for']
        : []),
      ...(status >= 400 && LEAK.test(body) ? ['the answer tells of the inside'] : []),
    ];
  }

  #bodyProblems({ name, operation }: Target, { status, headers, body }: Answer): string[] {
    const content = operation.responses[status]?.content ?? {};
    const [type = '', ...rest] = String(headers['content-type'] ?? '').split(';');
    if (Object.keys(content).length === 0) return body === '' ? [] : ['a body where none is documented'];
    const media = content[type];
    if (media === undefined) return [`the type ${type} is not documented`];
    if (type !== 'application/json') return body === '' ? ['an empty file'] : [];
    if (rest.join().trim() !== 'charset=utf-8') return ['JSON that is not said to be UTF-8'];
    const value = parse(body);
    if (value === undefined) return ['no JSON'];
    const key = `${name} ${status}`;
    const check = this.#checks.get(key) ?? checkOf(this.document, media.schema ?? {});
    this.#checks.set(key, check);
    return check(value);
  }
}

function headerProblems(headers: Answer['headers']): string[] {
  return [
    ...Object.entries(SECURITY_HEADERS)
      .filter(([name, form]) => !form.test(String(headers[name])))
      .map(([name]) => `${name}: ${String(headers[name])}`),
    ...FORBIDDEN_HEADERS.filter((name) => name in headers),
  ];
}

function cookieProblems({ name }: Target, headers: Answer['headers'], areDocumented: boolean): string[] {
  const cookies = [headers['set-cookie'] ?? []].flat();
  // A change of the profile that changes nothing starts no session.
  const mayBeAbsent = name === 'PATCH /api/users' && cookies.length === 0;
  if (cookies.length > 0 !== areDocumented && !mayBeAbsent)
    return [`${cookies.length} cookies, documented: ${areDocumented}`];
  return [
    ...cookies.filter((cookie) => !cookie.endsWith('; HttpOnly; Secure; SameSite=None')),
    ...(cookies.length > 0 && headers['cache-control'] !== 'no-store' ? ['cookies that may be stored'] : []),
  ];
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // No JSON, which is what the caller reports.
  }
}
