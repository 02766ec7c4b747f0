import { ExpressAdapter } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Failure, failures } from './errors.js';
import { failEnvelope } from './fail-envelope.filter.js';
import { unparsableRequests } from './metrics.js';

const SECOND = 1000;

/** Most header lines of a request. Browsers send 20 or so. */
const MAX_HEADERS = 100;

/** Milliseconds that a refused client has to read the answer and hang up. */
const LINGER_MS = 2000;

/** Bounds a request in time and size before any code of this service sees it. */
const SERVER_OPTIONS = {
  headersTimeout: 10 * SECOND,
  requestTimeout: 60 * SECOND,
  /** How often the two above are checked. Node's default of 30 s would make them 40 s and 90 s. */
  connectionsCheckingInterval: SECOND,
  /** Longest silence between two requests of a connection. */
  keepAliveTimeout: 5 * SECOND,
  /** Request line and headers together. More is a 431. */
  maxHeaderSize: 16 * 1024,
  // Node would refuse with an empty answer; `requireSaneHeaders` answers with the fail envelope.
  requireHostHeader: false,
} as const;

/** Express on a Node server with these limits, which answers every refusal with the fail envelope. */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express = this.getInstance<(...args: [...Parameters<RequestListener>, () => void]) => void>();
    const server = createServer(SERVER_OPTIONS, (request, response) => {
      // Called back for a URL that Express cannot parse, such as `http://[`. Express's own answer is a page.
      express(request, response, () => {
        if (response.headersSent) request.socket.destroy();
        else refuse(request.socket, failures.malformedRequest());
      });
    });
    // Node drops further headers without a word. One more than allowed shows that there were more.
    server.maxHeadersCount = MAX_HEADERS + 1;
    // Expectations other than 100-continue may be ignored (RFC 9110 section 10.1.1). Node's 417 has no body.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    // Node would close the connection without an answer. It no longer listens for the errors of this socket.
    server.on('connect', (_request, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      refuse(socket, failures.malformedRequest());
    });
    answerUnparsableRequests(server);
    this.httpServer = server;
  }
}

/** Refuses an HTTP/1.1 request without Host (RFC 9112 section 3.2) and one with too many headers. */
export function requireSaneHeaders(request: Request, _response: Response, next: NextFunction): void {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) next(failures.malformedRequest());
  else if (request.rawHeaders.length > 2 * MAX_HEADERS) next(failures.headersTooLarge());
  else next();
}

/** Why Node refused a request, by its error's code; `malformed request` for any other. */
const REFUSALS: Readonly<Record<string, Failure>> = {
  HPE_HEADER_OVERFLOW: failures.headersTooLarge(),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: failures.tooLarge(),
  ERR_HTTP_REQUEST_TIMEOUT: failures.requestTimeout(),
};

/** Answers requests that Node's HTTP parser refuses. No middleware ever sees them, and Node's own answer is empty. */
function answerUnparsableRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, REFUSALS[error.code ?? ''] ?? failures.malformedRequest());
  });
}

/** Answers a request that no middleware has seen, and hangs up. */
function refuse(socket: Socket, failure: Failure): void {
  socket.setTimeout(LINGER_MS, () => socket.destroy());
  socket.end(answerOf(failure));
  unparsableRequests.inc({ http_response_status_code: failure.code });
}

function answerOf(failure: Failure): string {
  const body = JSON.stringify(failEnvelope(failure));
  return [
    `HTTP/1.1 ${failure.code} ${STATUS_CODES[failure.code] ?? ''}`,
    'Connection: close',
    `X-Request-Id: ${randomUUID()}`,
    'X-Content-Type-Options: nosniff',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
