import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const HEADER = 'X-Request-Id';
const SANE_TOKEN = /^[\w.:-]{1,128}$/;

/** Takes the caller's `X-Request-Id` if it is a sane token, else makes one; answers with it either way. */
export function requestId(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const given = request.headers['x-request-id'];
  response.setHeader(HEADER, typeof given === 'string' && SANE_TOKEN.test(given) ? given : randomUUID());
  next();
}

/**
 * The id of the request that an answer is for, as log lines name it. It is handed on: an `AsyncLocalStorage`, which would
 * need no handing on, takes a fifth of a request's CPU time on Node 20.
 */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(HEADER));
}
