import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

const storage = new AsyncLocalStorage<string>();
const SANE_TOKEN = /^[\w.:-]{1,128}$/;

/** The id of the request that is being served, for log lines; undefined outside a request. */
export function currentRequestId(): string | undefined {
  return storage.getStore();
}

/** Takes the caller's `X-Request-Id` if it is a sane token, else makes one; answers with it either way. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  const id = given !== undefined && SANE_TOKEN.test(given) ? given : randomUUID();
  request.id = id;
  response.setHeader('X-Request-Id', id);
  storage.run(id, next);
}
