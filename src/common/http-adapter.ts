import { ExpressAdapter } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { disconnectStalledReaders, oneAtATime } from './connections.js';
import { type Failure, failures } from './errors.js';
import { failEnvelope } from './fail-envelope.filter.js';
import { unparsableRequests } from './metrics.js';

const SECOND = 1000;
const MAX_HEADERS = 100;
/** Time that a rejected client has to read the response. */
const LINGER_MS = 2000;

const SERVER_OPTIONS = {
  headersTimeout: 10 * SECOND,
  requestTimeout: 60 * SECOND,
  // Node's default of 30 s would extend the timeouts above to 40 s and 90 s.
  connectionsCheckingInterval: SECOND,
  keepAliveTimeout: 5 * SECOND,
  maxHeaderSize: 16 * 1024,
  // Node's rejection has no body; `requireSaneHeaders` sends the fail envelope.
  requireHostHeader: false,
} as const;

/** Failures by the code of a `clientError` of Node. Any other code is a malformed request. */
const PARSER_FAILURES: Readonly<Record<string, Failure>> = {
  HPE_HEADER_OVERFLOW: failures.headersTooLarge(),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: failures.tooLarge(),
  ERR_HTTP_REQUEST_TIMEOUT: failures.requestTimeout(),
};

/** Express on a Node server with the limits above. Rejections by Node's HTTP parser also send the fail envelope. */
export class HttpAdapter extends ExpressAdapter {
  /** Milliseconds after which a client that does not read its response is disconnected. Tests shorten this time. */
  readTimeout = 20 * SECOND;

  override initHttpServer(): void {
    const express = this.getInstance<(...args: [...Parameters<RequestListener>, () => void]) => void>();
    const listener = oneAtATime((request, response) => {
      // Express calls back for a URL that it cannot parse, such as `http://[`.
      express(request, response, () => {
        if (response.headersSent) request.socket.destroy();
        else reject(request.socket, failures.malformedRequest());
      });
    });
    const server = createServer(SERVER_OPTIONS, listener);
    // Node silently drops headers beyond this number. One more than the limit lets `requireSaneHeaders` see an excess.
    server.maxHeadersCount = MAX_HEADERS + 1;
    // Expectations other than 100-continue may be ignored (RFC 9110 section 10.1.1). Node's 417 has no body.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    // Node would close the connection of a CONNECT request without a response. Node leaves errors of this socket unhandled.
    server.on('connect', (_request, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      reject(socket, failures.malformedRequest());
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      // After the headers of a response, the client would read a failure as part of the response's body.
      const isResponding = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage?.headersSent;
      if (error.code === 'ECONNRESET' || !socket.writable || isResponding === true) socket.destroy();
      else reject(socket, PARSER_FAILURES[error.code ?? ''] ?? failures.malformedRequest());
    });
    disconnectStalledReaders(server, this);
    this.httpServer = server;
  }
}

/** Rejects HTTP/1.1 requests without Host (RFC 9112 section 3.2) and requests with too many headers. */
export function requireSaneHeaders(request: Request, _response: Response, next: NextFunction): void {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) next(failures.malformedRequest());
  else if (request.rawHeaders.length > 2 * MAX_HEADERS) next(failures.headersTooLarge());
  else next();
}

function reject(socket: Socket, failure: Failure): void {
  socket.setTimeout(LINGER_MS, () => socket.destroy());
  socket.end(toHttpMessage(failure));
  unparsableRequests.inc({ http_response_status_code: failure.code });
}

function toHttpMessage(failure: Failure): string {
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
