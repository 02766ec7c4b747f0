import type { NextFunction, Request, Response } from 'express';
import type { Env } from '../config/env.js';
import { failures } from './errors.js';
import { isSafeMethod } from './safe-methods.js';

const LOOPBACK_ORIGIN = /^http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?$/;

type OriginSettings = Pick<Env, 'publicUrl' | 'corsOrigins' | 'corsAllowsLoopback'>;

export function corsOriginMatcher(settings: Omit<OriginSettings, 'publicUrl'>): (origin: string) => boolean {
  const listed = new Set(settings.corsOrigins);
  return (origin) => listed.has(origin) || (settings.corsAllowsLoopback && LOOPBACK_ORIGIN.test(origin));
}

/**
 * Rejects state-changing requests of foreign pages (contract 10.8), because CORS does not stop a form post. The service's own
 * origins are PUBLIC_URL and the request's `Host` with the scheme of PUBLIC_URL.
 */
export function originCheck(settings: OriginSettings) {
  const isListed = corsOriginMatcher(settings);
  const { origin: own, protocol } = new URL(settings.publicUrl);
  return (request: Request, response: Response, next: NextFunction): void => {
    // Even if the response has no CORS headers. Otherwise a cache could return it to a storefront's page, which needs them.
    response.vary('Origin');
    const { origin, host } = request.headers;
    const isAllowed =
      isSafeMethod(request.method) ||
      origin === undefined ||
      origin === own ||
      origin === `${protocol}//${host ?? ''}` ||
      isListed(origin);
    next(isAllowed ? undefined : failures.origin());
  };
}
