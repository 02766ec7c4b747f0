import type { NextFunction, Request, Response } from 'express';
import type { Env } from '../config/env.js';
import { failures } from './errors.js';

const LOOPBACK_ORIGIN = /^http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?$/;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

type OriginSettings = Pick<Env, 'publicUrl' | 'corsOrigins' | 'corsAllowsLoopback'>;

/** Whether pages of an origin may call with the customer's cookies. */
export function corsOriginMatcher(settings: Omit<OriginSettings, 'publicUrl'>): (origin: string) => boolean {
  const listed = new Set(settings.corsOrigins);
  return (origin) => listed.has(origin) || (settings.corsAllowsLoopback && LOOPBACK_ORIGIN.test(origin));
}

/**
 * Refuses state-changing requests of foreign pages. The cookies are SameSite=None and a form post skips the
 * preflight, so CORS alone would not stop a forged request. A request without an Origin comes from no page.
 */
export function originCheck(settings: OriginSettings) {
  const isAllowed = corsOriginMatcher(settings);
  const own = new URL(settings.publicUrl).origin;
  return (request: Request, response: Response, next: NextFunction): void => {
    // Also on answers without CORS headers: a cache must not hand one of those to a storefront's page.
    response.vary('Origin');
    const origin = request.get('origin');
    if (SAFE_METHODS.has(request.method) || origin === undefined || origin === own || isAllowed(origin))
      next();
    else next(failures.origin());
  };
}
