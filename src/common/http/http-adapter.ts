import { randomUUID } from 'node:crypto';
import {
  createServer,
  IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import { toFailEnvelope } from '../errors/fail-envelope.filter.js';
import { type Failure, failures } from '../errors/failures.js';
import { earlyRejections } from '../observability/metrics.js';
import { disconnectSlowReaders, type MinimumReadRate, serializePipelinedRequests } from './connections.js';
import { MAX_HEADERS } from './middleware.js';

const SECOND_MS = 1000;
/** Time for a body that is not a form. */
const BODY_MS = 60 * SECOND_MS;
/** Time that a rejected client has to read the response. */
const LINGER_MS = 2 * SECOND_MS;

const SERVER_OPTIONS = {
  headersTimeout: 10 * SECOND_MS,
  // A form may take this long. `limitBodyTime` ends other requests earlier.
  requestTimeout: 600 * SECOND_MS,
  // Node's default of 30 s would extend the timeouts above by up to 30 s.
  connectionsCheckingInterval: SECOND_MS,
  keepAliveTimeout: 5 * SECOND_MS,
  maxHeaderSize: 16 * 1024,
  // Node's rejection has no body; `rejectInvalidHeaders` sends the fail envelope.
  requireHostHeader: false,
};

/** Failures by the code of a `clientError` of Node. Any other code is a malformed request. */
const PARSER_FAILURES: Readonly<Record<string, Failure>> = {
  HPE_HEADER_OVERFLOW: failures.headersTooLarge(),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: failures.tooLarge(),
  ERR_HTTP_REQUEST_TIMEOUT: failures.requestTimeout(),
};

interface ExpressListener {
  (...args: [...Parameters<RequestListener>, onInvalidUrl: () => void]): void;
  /** Prototypes of all requests and responses. */
  request: IncomingMessage;
  response: ServerResponse;
}

/** Express on a Node server with the limits above. Rejections by Node's HTTP parser also send the fail envelope. */
export class LimitedExpressAdapter extends ExpressAdapter {
  constructor(
    private readonly minimumReadRate: MinimumReadRate = { bytesPerSecond: 1024, windowMs: 60 * SECOND_MS },
  ) {
    super();
  }

  override initHttpServer(): void {
    const express = this.getInstance<ExpressListener>();
    const listener = serializePipelinedRequests((request, response) => {
      limitBodyTime(request, response);
      // Express calls back for a URL that it cannot parse, such as `http://[`.
      express(request, response, () => {
        rejectOnSocket(request.socket, failures.malformedRequest(), response);
      });
    });
    const server = createServer({ ...SERVER_OPTIONS, ...createExpressClasses(express) }, listener);
    // Node silently drops headers beyond this number. One more than the limit lets `rejectInvalidHeaders` see an excess.
    server.maxHeadersCount = MAX_HEADERS + 1;
    // Expectations other than 100-continue may be ignored (RFC 9110 section 10.1.1). Node's 417 has no body.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    // Without this listener, Node closes the connection of a CONNECT request and sends nothing. With the listener, errors of
    // the socket are ours to handle.
    server.on('connect', (_request, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      rejectOnSocket(socket, failures.malformedRequest());
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const { _httpMessage: response } = socket as Socket & { readonly _httpMessage?: ServerResponse | null };
      if (error.code === 'ECONNRESET') socket.destroy();
      else rejectOnSocket(socket, PARSER_FAILURES[error.code ?? ''] ?? failures.malformedRequest(), response);
    });
    disconnectSlowReaders(server, this.minimumReadRate);
    this.httpServer = server;
  }
}

/**
 * Makes Node create requests and responses with the prototypes of Express. Otherwise Express replaces the prototypes of each
 * request and response, which makes Express about four times as slow on Node 20.
 */
function createExpressClasses(express: ExpressListener) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  Object.setPrototypeOf(ExpressRequest.prototype, express.request);
  Object.setPrototypeOf(ExpressResponse.prototype, express.response);
  express.request = ExpressRequest.prototype;
  express.response = ExpressResponse.prototype;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/**
 * Ends a request whose body takes longer than a minute. A form may take longer until its response begins, because
 * `FormInterceptor` watches its progress. After that, nothing reads the rest of the form, and the next check ends it.
 */
function limitBodyTime(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': type } = request.headers;
  if ((length ?? encoding) === undefined) return;
  const isForm = /^multipart\/form-data\b/i.test(type ?? '');
  const timer = setInterval(() => {
    if (!request.complete && (!isForm || response.headersSent))
      rejectOnSocket(request.socket, failures.requestTimeout(), response);
  }, BODY_MS).unref();
  request.once('close', () => {
    clearInterval(timer);
  });
}

/** Rejects a request on its connection. Sends the headers that were already set on the response, such as those for CORS. */
function rejectOnSocket(socket: Socket, failure: Failure, response?: ServerResponse | null): void {
  // After the headers of a response, the client would read a failure as part of the response's body.
  if (response?.headersSent === true) {
    socket.destroy();
    return;
  }
  // After a rejection the socket is not writable, and the client may still send the rest of the request.
  if (!socket.writable) return;
  // For the log and the metrics of requests. Node sends nothing of this response.
  if (response) response.statusCode = failure.status;
  // Not `socket.setTimeout`, which each received byte would restart.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  // A running timer would keep the body in memory.
  socket.once('close', () => {
    clearTimeout(timer);
  });
  socket.end(toHttpMessage(failure, response?.getHeaders()));
  earlyRejections.inc({ http_response_status_code: failure.status });
}

function toHttpMessage(failure: Failure, headers: OutgoingHttpHeaders = {}): string {
  const body = JSON.stringify(toFailEnvelope(failure));
  return [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
    ...Object.entries({
      'x-request-id': randomUUID(),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      ...headers,
      connection: 'close',
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    }).map(([name, value]) => `${name}: ${String(value)}`),
    '',
    body,
  ].join('\r\n');
}
