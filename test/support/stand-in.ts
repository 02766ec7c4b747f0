import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { listenOnLoopback, stopListening, trackSockets } from './loopback.js';

/**
 * Fault of a call. These faults prevent the operation:
 * - `disconnect`: the connection is closed when the request arrives
 * - `hang`: there is no response
 * - `error`: the response is 500
 * - `response`: the response has the given status and body
 *
 * With these faults, the operation is performed and only the response is affected:
 * - `response-lost`: the connection is closed before the response
 * - `drip`: the response arrives in single bytes, and never ends
 * - `garbage`: the response is 200 with an HTML page
 */
export type Fault<Operation extends string> = {
  readonly operation: Operation;
  /** Affects only the nth call after the fault is set, counted from 1; by default all calls. */
  readonly nth?: number;
} & (
  | { readonly kind: 'disconnect' | 'hang' | 'error' | 'response-lost' | 'drip' | 'garbage' }
  | ({ readonly kind: 'response' } & ResponseContent)
);

export interface ResponseContent {
  readonly status: number;
  readonly body: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Call<Operation extends string> {
  readonly operation: Operation;
  fault?: Fault<Operation>['kind'];
}

const GARBAGE = {
  status: 200,
  body: '<html><body>It works!</body></html>',
  headers: { 'Content-Type': 'text/html' },
};

const SERVER_ERROR = { status: 500, body: { status_code: '500', error_messages: ['Internal server error'] } };

/** Thrown by a hook that cuts the connection of its call. */
export class CutConnection extends Error {}

/** External service on loopback that fails on demand. */
export abstract class StandIn<Operation extends string, C extends Call<Operation>> {
  /** In order of arrival. */
  readonly calls: C[] = [];
  /** Hook, awaited before a call is performed or a fault responds instead. Race tests run other actions here. */
  beforeProcessing: ((call: C) => Promise<unknown> | void) | undefined;
  /** Hook, awaited before the response is sent. By then, the call has been performed, unless a fault responds instead. */
  beforeResponse: ((call: C) => Promise<unknown> | void) | undefined;

  protected port = 0;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  /** Faults with the number of calls of their operation since they were set. */
  #faults: { readonly fault: Fault<Operation>; calls: number }[] = [];

  protected constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        // The caller of an incomplete request has aborted it. Any other error is a bug of a hook or of the stand-in.
        if (request.complete && !(error instanceof CutConnection)) console.error(error);
        response.destroy();
      });
    });
    this.#sockets = trackSockets(this.#server);
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  listCalls(operation: Operation): C[] {
    return this.calls.filter((call) => call.operation === operation);
  }

  /** Adds a fault. If several faults apply to a call, the first one is used. */
  addFault(fault: Fault<Operation>): void {
    this.#faults.push({ fault, calls: 0 });
  }

  clearFaults(): void {
    this.#faults = [];
  }

  /** Forgets the calls so far and removes all faults and hooks. */
  reset(): void {
    this.calls.length = 0;
    this.clearFaults();
    this.beforeProcessing = undefined;
    this.beforeResponse = undefined;
  }

  /** Starts listening. After `down`, the port stays the same. */
  async up(): Promise<void> {
    this.port = await listenOnLoopback(this.#server, this.port);
  }

  /** Closes all connections and rejects new ones. */
  async down(): Promise<void> {
    await stopListening(this.#server, this.#sockets);
  }

  /** Creates the record of a call; null if the external service has no such path or method. */
  protected abstract begin(request: IncomingMessage): C | null;
  /** Adds the contents of the request to the record. */
  protected abstract read(call: C, request: IncomingMessage, body: Buffer): Promise<void> | void;
  protected abstract perform(call: C): ResponseContent;

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = this.begin(request);
    if (call === null) {
      send(response, { status: 404, body: { error: { message: `Unknown path ${request.url ?? ''}` } } });
      return;
    }
    const fault = this.#countCallAndFindFault(call.operation);
    Object.assign(call, { fault: fault?.kind });
    this.calls.push(call);
    if (fault?.kind === 'disconnect') {
      request.socket.destroy();
      return;
    }
    await this.read(call, request, await buffer(request));
    if (fault?.kind === 'hang') return;
    await this.beforeProcessing?.(call);
    const content = responseOf(fault) ?? this.perform(call);
    await this.beforeResponse?.(call);
    if (fault?.kind === 'response-lost') response.destroy();
    else if (fault?.kind === 'drip') await drip(response);
    else send(response, fault?.kind === 'garbage' ? GARBAGE : content);
  }

  #countCallAndFindFault(operation: Operation): Fault<Operation> | undefined {
    const affected = this.#faults.filter(({ fault }) => fault.operation === operation);
    for (const entry of affected) entry.calls += 1;
    return affected.find(({ fault, calls }) => (fault.nth ?? calls) === calls)?.fault;
  }
}

/** Returns the response that a fault sends instead of performing the operation. */
function responseOf(fault?: Fault<string>): ResponseContent | undefined {
  if (fault?.kind === 'response') return fault;
  return fault?.kind === 'error' ? SERVER_ERROR : undefined;
}

/** Sends a response in single bytes, which never ends. */
async function drip(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  while (!response.closed) {
    response.write(' '); // JSON may begin with spaces.
    await delay(20);
  }
}

/** Sends a response. A body that is a string is sent unchanged. */
function send(response: ServerResponse, { status, body, headers }: ResponseContent): void {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const type = 'application/json; charset=utf-8';
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': bytes.length, ...headers });
  response.end(bytes);
}
