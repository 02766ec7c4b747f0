import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Failure, failures } from './errors.js';
import { failEnvelope } from './fail-envelope.filter.js';

/** Milliseconds that a refused caller has to read the answer and hang up. */
const LINGER_MS = 2000;

/**
 * Answers what Node's HTTP parser refuses, which no middleware ever sees, with the fail envelope instead of
 * Node's empty answer.
 */
export function answerUnparsableRequests(server: Server): void {
  const latestAnswers = new WeakMap<Socket, ServerResponse>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    latestAnswers.set(request.socket, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const latest = latestAnswers.get(socket);
    const isAnswering = latest?.headersSent === true && !latest.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
      socket.destroy();
      return;
    }
    socket.setTimeout(LINGER_MS, () => socket.destroy());
    socket.end(answerOf(failureOf(error.code)));
  });
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

function failureOf(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') return failures.headersTooLarge();
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? failures.requestTimeout() : failures.malformedRequest();
}
