import type { NextFunction, Request, Response } from 'express';
import type { Env } from '../config/env.js';
import { failures } from './errors.js';
import { isSafeMethod } from './safe-methods.js';

const LOOPBACK_ORIGIN = /^http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?$/;

/** Returns a function that tells if CORS_ORIGINS allows an origin. */
export function corsOriginMatcher({ corsOrigins, nodeEnv }: Env): (origin: string) => boolean {
  const allowsLoopback = corsOrigins === undefined && nodeEnv !== 'production';
  return (origin) => corsOrigins?.includes(origin) ?? (allowsLoopback && LOOPBACK_ORIGIN.test(origin));
}

/**
 * Rejects state-changing requests of foreign pages (contract 10.8), because CORS does not stop a form post. The service's own
 * origins are PUBLIC_URL and the request's `Host` with the scheme of PUBLIC_URL.
 */
export function originCheck(env: Env) {
  const isCorsOrigin = corsOriginMatcher(env);
  const { origin: own, protocol } = new URL(env.publicUrl);
  return (request: Request, response: Response, next: NextFunction): void => {
    // Even if the response has no CORS headers. Otherwise a cache could return it to a storefront's page, which needs them.
    response.vary('Origin');
    const { origin, host } = request.headers;
    const isAllowed =
      isSafeMethod(request.method) ||
      origin === undefined ||
      origin === own ||
      origin === `${protocol}//${host ?? ''}` ||
      isCorsOrigin(origin);
    next(isAllowed ? undefined : failures.origin());
  };
}
