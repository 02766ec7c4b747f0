import { Buffer } from 'node:buffer';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { idOf, withRequestId } from '../request-id.js';
import type { RequestLog } from '../request-log.js';
import { setRoute } from '../request-observer.js';
import type { RunningRequests } from '../running-requests.js';
import { AnswerTemplates } from './answer-templates.js';
import { parsePlainJson } from './json-text.js';
import { isPlainGet, lengthOfPlainJson } from './plain-request.js';

/** The body of a 200 that can be sent. */
export interface ReadyAnswer {
  /** Entity tag, as it stands in the header. */
  readonly etag: string;
  /** The body in pieces, none of them empty. */
  readonly body: readonly (Buffer | string)[];
}

/** A GET route of which much is asked. */
export interface PageRoute<Asked> {
  /** Its pattern, as Express knows it. */
  readonly path: string;
  /** What a request asks for; null leaves it to the pipeline. It must see to who is calling. */
  readonly accept: (request: IncomingMessage) => Asked | null;
  /** The answer; null leaves the request to the pipeline. */
  readonly answer: (asked: Asked) => ReadyAnswer | null | Promise<ReadyAnswer | null>;
}

/** A POST route of which much is asked, and whose answer is an empty 200. */
export interface JsonRoute {
  /** Its path, as requests name it. */
  readonly path: string;
  /** Does what the request says; false if nothing was done: then the pipeline does it. @param text the body as received */
  readonly receive: (body: object, text: string) => Promise<boolean>;
}

/** What the lane shares with the pipeline, once the service is put together. */
export interface Surroundings {
  readonly pipeline: RequestListener;
  readonly log: RequestLog;
  readonly running: RunningRequests;
}

interface OpenPage {
  readonly route: PageRoute<unknown>;
  readonly templates: AnswerTemplates;
}

interface OpenJson {
  readonly route: JsonRoute;
  readonly templates: AnswerTemplates;
}

const REQUEST_ID = 'x-request-id';
const ETAG = 'etag';
const LENGTH = 'content-length';

/** What went wrong in the lane, for the pipeline to answer: it knows how. */
const thrown = new WeakMap<IncomingMessage, unknown>();

/** Lets the pipeline answer what went wrong in the lane. Stands where it has set every header. */
export function answerForLane(
  request: IncomingMessage,
  _response: ServerResponse,
  next: (error?: unknown) => void,
): void {
  next(thrown.get(request));
}

/**
 * Answers plain requests of a few routes before Express sees them.
 *
 * Its headers are those with which the pipeline answered the same route for the same `Origin`: the first request of
 * each goes there, and what it was answered with is repeated. So nothing of what stands around the routes is said
 * twice, and a header that is added there is added here. The request's id and its log line come from the same
 * functions as the pipeline's. Whatever is unusual about a request is left to the pipeline, which can do all that the
 * lane does: its body is still unread then.
 */
export class FastLane {
  /** Until there are any, all goes to the pipeline. */
  surroundings: Surroundings | null = null;
  #page: OpenPage | null = null;
  readonly #receivers = new Map<string, OpenJson>();

  /** Gives the lane its one GET route. */
  openPage<Asked>(route: PageRoute<Asked>): void {
    // What `answer` is given comes from `accept`.
    this.#page = {
      route: route as PageRoute<unknown>,
      templates: new AnswerTemplates([REQUEST_ID, ETAG, LENGTH]),
    };
  }

  openJson(route: JsonRoute): void {
    this.#receivers.set(route.path, { route, templates: new AnswerTemplates([REQUEST_ID]) });
  }

  /** Whether it attends to a request. If so it may still leave it to the pipeline later, by itself. */
  attends(request: IncomingMessage, response: ServerResponse): boolean {
    const { surroundings } = this;
    if (surroundings === null) return false;
    if (request.method === 'GET') return this.#attendsGet(surroundings, request, response);
    const open = request.method === 'POST' ? this.#receivers.get(request.url ?? '') : undefined;
    return open !== undefined && this.#attendsPost(surroundings, open, request, response);
  }

  #attendsGet(around: Surroundings, request: IncomingMessage, response: ServerResponse): boolean {
    const open = this.#page;
    if (open === null || !isPlainGet(request)) return false;
    const { route, templates } = open;
    const asked = route.accept(request);
    if (asked === null) return false;
    const { origin = '' } = request.headers;
    if (!templates.has(origin)) {
      templates.learn(origin, response);
      return false;
    }
    const reply = (answer: ReadyAnswer, id: string): void => {
      sendPage(response, templates, answer, { id, origin, isUnchanged: isUnchanged(request, answer) });
    };
    begin(around, route.path, request, response, (id) => {
      const answer = route.answer(asked);
      if (answer instanceof Promise)
        void settle(around, request, response, answer, (found) => {
          reply(found, id);
        });
      else if (answer === null) around.pipeline(request, response);
      else reply(answer, id);
    });
    return true;
  }

  #attendsPost(
    around: Surroundings,
    { route, templates }: OpenJson,
    request: IncomingMessage,
    response: ServerResponse,
  ): boolean {
    const length = lengthOfPlainJson(request);
    if (length === null) return false;
    if (!templates.has('')) {
      templates.learn('', response);
      return false;
    }
    begin(around, route.path, request, response, (id) => {
      whenReadable(request, id, () => {
        const bytes = request.read() as Buffer | null;
        // It stays unread, whoever is to read it.
        if (bytes !== null) request.unshift(bytes);
        const json = bytes?.length === length ? parsePlainJson(bytes) : null;
        if (json === null) around.pipeline(request, response);
        else
          void settle(around, request, response, orNull(route.receive(json.body, json.text)), () => {
            sendEmpty(response, templates.headersOf('', { [REQUEST_ID]: id }, true));
            request.resume();
          });
      });
    });
    return true;
  }
}

function begin(
  { log }: Surroundings,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  attend: (id: string) => void,
): void {
  setRoute(request, path);
  const id = idOf(request);
  withRequestId(request, id, () => {
    log(request, response, () => {
      attend(id);
    });
  });
}

/** Waits for a request's body, or its first piece. The event comes from outside the request's context. */
function whenReadable(request: IncomingMessage, id: string, read: () => void): void {
  request.once('readable', () => {
    withRequestId(request, id, read);
  });
}

/** Replies when the work is done; leaves the request to the pipeline when it came to nothing, and its failure too. */
async function settle<T>(
  { pipeline, running }: Surroundings,
  request: IncomingMessage,
  response: ServerResponse,
  work: Promise<T | null>,
  reply: (done: T) => void,
): Promise<void> {
  const end = running.begin();
  try {
    const done = await work;
    if (done === null) pipeline(request, response);
    else reply(done);
  } catch (error) {
    thrown.set(request, error);
    pipeline(request, response);
  } finally {
    end();
  }
}

async function orNull(work: Promise<boolean>): Promise<true | null> {
  return (await work) ? true : null;
}

/** Weak comparison (RFC 9110 section 13.1.2). */
function isUnchanged({ headers }: IncomingMessage, { etag }: ReadyAnswer): boolean {
  const given = headers['if-none-match'];
  return given !== undefined && (given === etag || `W/${given}` === etag);
}

function sendPage(
  response: ServerResponse,
  templates: AnswerTemplates,
  { etag, body }: ReadyAnswer,
  { id, origin, isUnchanged }: { id: string; origin: string; isUnchanged: boolean },
): void {
  const fields = { [REQUEST_ID]: id, [ETAG]: etag, [LENGTH]: String(lengthOf(body)) };
  response.writeHead(isUnchanged ? 304 : 200, templates.headersOf(origin, fields, !isUnchanged));
  if (!isUnchanged) for (const piece of body) response.write(piece);
  response.end();
}

/** Sent whole, so that Node says of itself that the body is empty. */
function sendEmpty(response: ServerResponse, headers: readonly string[]): void {
  for (let index = 0; index < headers.length; index += 2)
    response.setHeader(headers[index] ?? '', headers[index + 1] ?? '');
  response.end();
}

function lengthOf(body: ReadyAnswer['body']): number {
  return body.reduce((length, piece) => length + Buffer.byteLength(piece), 0);
}
