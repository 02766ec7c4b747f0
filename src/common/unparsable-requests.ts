import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Failure, failures } from './errors.js';
import { failEnvelope } from './fail-envelope.filter.js';
import { unparsableRequests } from './metrics.js';

/** Milliseconds that a refused client has to read the answer and hang up. */
const LINGER_MS = 2000;

/** Answers requests that Node's HTTP parser refuses. No middleware ever sees them, and Node's own answer is empty. */
export function answerUnparsableRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const failure = failureOf(error.code);
    socket.setTimeout(LINGER_MS, () => socket.destroy());
    socket.end(answerOf(failure));
    unparsableRequests.inc({ http_response_status_code: failure.code });
  });
}

function failureOf(code: string | undefined): Failure {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return failures.headersTooLarge();
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return failures.tooLarge();
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return failures.requestTimeout();
    default:
      return failures.malformedRequest();
  }
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
