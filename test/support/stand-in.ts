import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { listenOnLoopback, stopListening, trackSockets } from './loopback.js';

/**
 * What goes wrong with a call:
 * - `down`: the connection is cut as the request arrives, nothing is done · `hang`: never answered, nothing is done
 * - `error`: 500, nothing is done · `answer`: answered as given, nothing is done
 * - `answer-lost`: done, but the connection is cut before an answer · `cut`: done, cut in the middle of the answer
 * - `drip`: done and answered a byte every `dripIntervalMs` · `garbage`: done, but answered 200 with a page of HTML
 * - `late`: done at once, answered after `afterMs`
 */
export type Fault<Operation extends string> = {
  readonly operation: Operation;
  /** Which call of the operation it meets, counted from 1 when the fault is set; absent: every one. */
  readonly nth?: number;
} & (
  | { readonly kind: 'down' | 'hang' | 'error' | 'answer-lost' | 'cut' | 'drip' | 'garbage' }
  | { readonly kind: 'late'; readonly afterMs: number }
  | ({ readonly kind: 'answer' } & Answer)
);

export interface Answer {
  readonly status: number;
  readonly body: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is kept of every call. */
export interface Call<Operation extends string> {
  readonly operation: Operation;
  fault?: Fault<Operation>['kind'] | null;
  /** HTTP status answered; null while there is none. */
  status?: number | null;
}

/** An external service on loopback, which fails on demand. */
export abstract class StandIn<Operation extends string, C extends Call<Operation>> {
  /** In order of arrival. */
  readonly calls: C[] = [];
  dripIntervalMs = 1_000;
  /** Awaited when a call was read and before anything is done: a race test lets other things happen here. */
  beforeProcessing: ((call: C) => Promise<unknown> | void) | undefined;
  /** Awaited when a call was processed and before it is answered. */
  beforeAnswering: ((call: C) => Promise<unknown> | void) | undefined;
  /** Calls that are neither answered to the end nor given up by the caller, and the most there were. */
  callsInProgress = 0;
  mostCallsInProgress = 0;

  protected port = 0;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #faults: { readonly fault: Fault<Operation>; seen: number }[] = [];

  protected constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        // A defect of the stand-in, or a caller that hung up while its request was read.
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
    this.#sockets = trackSockets(this.#server);
  }

  /** Connections open now. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** The calls of one operation, in order of arrival. */
  callsOf(operation: Operation): C[] {
    return this.calls.filter((call) => call.operation === operation);
  }

  /** Several faults may be set; a call meets the first that is due. */
  fault(fault: Fault<Operation>): void {
    this.#faults.push({ fault, seen: 0 });
  }

  clearFaults(): void {
    this.#faults = [];
  }

  /** Listens, after `down` on the same port. */
  async up(): Promise<void> {
    this.port = await listenOnLoopback(this.#server, this.port);
  }

  /** Cuts every connection and refuses new ones. */
  async down(): Promise<void> {
    await stopListening(this.#server, this.#sockets);
  }

  async close(): Promise<void> {
    await this.down();
  }

  /** @returns what a call is kept as; null for a path or method that the service does not have */
  protected abstract begin(request: IncomingMessage): C | null;
  /** Fills in what the request's body says. */
  protected abstract read(call: C, request: IncomingMessage, body: Buffer): Promise<void> | void;
  protected abstract perform(call: C): Answer;

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = this.begin(request);
    if (call === null) {
      send(response, { status: 404, body: { error: { message: `Unknown path ${request.url ?? ''}` } } });
      return;
    }
    const fault = this.#takeFault(call.operation);
    Object.assign(call, { fault: fault?.kind ?? null, status: null });
    this.calls.push(call);
    this.callsInProgress += 1;
    this.mostCallsInProgress = Math.max(this.mostCallsInProgress, this.callsInProgress);
    response.once('close', () => (this.callsInProgress -= 1));
    response.once('finish', () => (call.status = response.statusCode));
    if (fault?.kind === 'down') {
      request.socket.destroy();
      return;
    }
    await this.read(call, request, await buffer(request));
    if (fault?.kind === 'hang') return;
    await this.beforeProcessing?.(call);
    const answer = givenBy(fault) ?? this.perform(call);
    await this.beforeAnswering?.(call);
    await this.#answer(response, answer, fault);
  }

  #takeFault(operation: Operation): Fault<Operation> | undefined {
    const concerned = this.#faults.filter(({ fault }) => fault.operation === operation);
    for (const entry of concerned) entry.seen += 1;
    return concerned.find(({ fault, seen }) => fault.nth === undefined || fault.nth === seen)?.fault;
  }

  async #answer(
    response: ServerResponse,
    answer: Answer,
    fault: Fault<Operation> | undefined,
  ): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(answer.body));
    const whole = { 'Content-Type': 'application/json', 'Content-Length': bytes.length };
    switch (fault?.kind) {
      case 'answer-lost':
        response.destroy();
        return;
      case 'cut':
        response.writeHead(answer.status, whole);
        response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
        return;
      case 'drip':
        response.writeHead(answer.status, whole);
        for (const byte of bytes) {
          response.write(Buffer.of(byte));
          await delay(this.dripIntervalMs);
          if (response.closed) return;
        }
        response.end();
        return;
      case 'garbage':
        send(response, { status: 200, body: '<html><body>It works!</body></html>' });
        return;
      case 'late': {
        const given = new AbortController();
        response.once('close', () => {
          given.abort();
        });
        await delay(fault.afterMs, undefined, { signal: given.signal });
        break;
      }
    }
    send(response, answer);
  }
}

/** The answer of a fault that keeps the call from being performed. */
function givenBy<Operation extends string>(fault: Fault<Operation> | undefined): Answer | undefined {
  if (fault?.kind === 'answer') return fault;
  return fault?.kind === 'error'
    ? { status: 500, body: { status_code: '500', error_messages: ['Internal server error'] } }
    : undefined;
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
