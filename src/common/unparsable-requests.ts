import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Failure, failures } from './errors.js';
import { failEnvelope } from './fail-envelope.filter.js';

/**
 * Answers what Node's HTTP parser refuses, which no middleware ever sees, with the fail envelope instead of
 * Node's empty answer.
 */
export function answerUnparsableRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const failure = failureOf(error.code);
    const body = JSON.stringify(failEnvelope(failure));
    socket.end(
      `HTTP/1.1 ${failure.code} ${STATUS_CODES[failure.code] ?? ''}\r\nConnection: close\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}

function failureOf(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') return failures.headersTooLarge();
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? failures.requestTimeout() : failures.malformedRequest();
}
