import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

declare module 'node:http' {
  interface IncomingMessage {
    /** The request's id, once it has one. */
    id?: string;
  }
}

const storage = new AsyncLocalStorage<string>();
const SANE_TOKEN = /^[\w.:-]{1,128}$/;

/** The id of the request that is being served, for log lines; undefined outside a request. */
export function currentRequestId(): string | undefined {
  return storage.getStore();
}

/** Takes the caller's `X-Request-Id` if it is a sane token, else makes one; answers with it either way. */
export function requestId(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const id = idOf(request);
  response.setHeader('X-Request-Id', id);
  withRequestId(request, id, next);
}

/** The id of a request: the one that it has, or the caller's if it is a sane token, else a new one. */
export function idOf({ id, headers }: IncomingMessage): string {
  if (id !== undefined) return id;
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE_TOKEN.test(given) ? given : randomUUID();
}

/** Serves a request under its id, which every log line then names. */
export function withRequestId(request: IncomingMessage, id: string, serve: () => void): void {
  request.id = id;
  storage.run(id, serve);
}
