import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { idOf, withRequestId } from './request-id.js';
import { setRoute } from './request-observer.js';

/** The body of a 200 that can be sent at once. */
export interface ReadyAnswer {
  /** Entity tag, as it stands in the header. */
  readonly etag: string;
  /** The body in pieces, none of them empty. */
  readonly body: readonly (Buffer | string)[];
}

/** Answers requests to one GET route, or null: then the pipeline answers. It must see to who is calling. */
export type FastRoute = (request: IncomingMessage) => ReadyAnswer | null;

/** Node's own answers have the method; its types name it for requests alone. */
type RawNames = Pick<ClientRequest, 'getRawHeaderNames'>;

/** The log of requests, the pipeline's own. */
type RequestLog = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** Headers of an answer as names and values in turn, and where those stand that differ from answer to answer. */
interface HeaderTemplate {
  readonly full: readonly string[];
  readonly unchanged: readonly string[];
}

/** Most origins whose headers are kept: those of a shop's storefronts, and not what strangers make up. */
const MOST_TEMPLATES = 64;
/** Browsers send 20 or so; whether more are too many is not decided here. */
const MOST_HEADERS = 50;
const REQUEST_ID = 'x-request-id';
const ETAG = 'etag';
const LENGTH = 'content-length';
/** What an answer without a body does not say (RFC 9110 section 15.4.5). */
const OF_BODIES = new Set(['content-type', LENGTH]);
/** One entity tag and nothing else. */
const SINGLE_TAG = /^(?:W\/)?"[^",]*"$/;

/**
 * Answers plain requests before Express sees them, where a route has its answer ready.
 *
 * Its headers are those with which the pipeline answered the same route for the same `Origin`: the first request of
 * each goes there, and what it was answered with is repeated. So nothing of what stands around the routes is said
 * twice, and a header that is added there is added here. The request's id and its log line come from the same
 * functions as the pipeline's. Whatever is unusual about a request is left to the pipeline.
 */
export class FastLane {
  /** Set once the service is put together. */
  log: RequestLog | null = null;
  #route: FastRoute | null = null;
  #path = '';
  readonly #templates = new Map<string, HeaderTemplate>();

  /** Gives the lane its one route. @param path its pattern, as Express knows it */
  open(path: string, route: FastRoute): void {
    this.#path = path;
    this.#route = route;
  }

  /** Whether it answers a request; if not, it has not touched it. */
  serves(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#route === null || this.log === null || !isPlain(request)) return false;
    const answer = this.#route(request);
    if (answer === null) return false;
    const { origin = '' } = request.headers;
    const template = this.#templates.get(origin);
    if (template === undefined) {
      this.#learn(origin, response);
      return false;
    }
    setRoute(request, this.#path);
    const id = idOf(request);
    withRequestId(request, id, () => {
      this.log?.(request, response, () => {
        send(response, template, answer, id, isUnchanged(request, answer));
      });
    });
    return true;
  }

  /** Keeps the headers with which the pipeline answers. */
  #learn(origin: string, response: ServerResponse): void {
    response.once('finish', () => {
      // One that sets a cookie is meant for its caller alone.
      if (response.statusCode !== 200 || response.hasHeader('set-cookie')) return;
      if (!response.hasHeader(REQUEST_ID) || !response.hasHeader(ETAG) || !response.hasHeader(LENGTH)) return;
      const full = (response as ServerResponse & RawNames)
        .getRawHeaderNames()
        .flatMap((name) => [name, String(response.getHeader(name))]);
      const unchanged = full.filter(
        (_, index) => !OF_BODIES.has(full[index - (index % 2)]?.toLowerCase() ?? ''),
      );
      const [oldest] = this.#templates.size >= MOST_TEMPLATES ? this.#templates.keys() : [];
      if (oldest !== undefined) this.#templates.delete(oldest);
      this.#templates.set(origin, { full, unchanged });
    });
  }
}

/** A GET that asks for nothing but the answer. */
function isPlain({ method, httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    rawHeaders.length <= 2 * MOST_HEADERS &&
    httpVersion === '1.1' &&
    headers.host !== undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    headers.upgrade === undefined &&
    headers['if-modified-since'] === undefined &&
    (headers['if-none-match'] === undefined ||
      (headers['cache-control'] === undefined && SINGLE_TAG.test(headers['if-none-match'])))
  );
}

/** Weak comparison (RFC 9110 section 13.1.2). */
function isUnchanged({ headers }: IncomingMessage, { etag }: ReadyAnswer): boolean {
  const given = headers['if-none-match'];
  return given !== undefined && (given === etag || `W/${given}` === etag);
}

function send(
  response: ServerResponse,
  template: HeaderTemplate,
  { etag, body }: ReadyAnswer,
  id: string,
  unchanged: boolean,
): void {
  const headers = [...(unchanged ? template.unchanged : template.full)];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]?.toLowerCase();
    if (name === REQUEST_ID) headers[index + 1] = id;
    else if (name === ETAG) headers[index + 1] = etag;
    else if (name === LENGTH) headers[index + 1] = String(lengthOf(body));
  }
  response.writeHead(unchanged ? 304 : 200, headers);
  if (!unchanged) for (const piece of body) response.write(piece);
  response.end();
}

function lengthOf(body: ReadyAnswer['body']): number {
  return body.reduce((length, piece) => length + Buffer.byteLength(piece), 0);
}
