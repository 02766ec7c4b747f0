import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const storage = new AsyncLocalStorage<string>();
const SANE_TOKEN = /^[\w.:-]{1,128}$/;

/** The id of the request that is being served, for log lines; undefined outside a request. */
export function currentRequestId(): string | undefined {
  return storage.getStore();
}

/** Takes the caller's `X-Request-Id` if it is a sane token, else makes one; answers with it either way. */
export function requestId(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && SANE_TOKEN.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', id);
  storage.run(id, next);
}
