import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { type Failure, failures } from './errors.js';
import { failEnvelope } from './fail-envelope.filter.js';

/** Milliseconds that a refused caller has to read the answer and hang up. */
const LINGER_MS = 2000;

/**
 * Answers what Node's HTTP parser refuses and what it takes for a tunnel, which no middleware ever sees, with the
 * fail envelope instead of Node's empty answer or none.
 *
 * @param onRefused told the status of each such answer
 */
export function answerUnparsableRequests(server: Server, onRefused: (status: number) => void): void {
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
    const failure = failureOf(error.code);
    refuse(socket, failure);
    onRefused(failure.code);
  });
  // Node hands the bare connection over; its errors are nobody's.
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const failure = failures.malformedRequest();
    refuse(socket as Socket, failure);
    onRefused(failure.code);
  });
}

function refuse(socket: Socket, failure: Failure): void {
  socket.setTimeout(LINGER_MS, () => socket.destroy());
  socket.end(answerOf(failure));
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
