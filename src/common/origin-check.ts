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
 * Refuses state-changing requests of foreign pages (contract 10.8). The cookies are SameSite=None and a form post skips
 * the preflight, so CORS alone would not stop a forged request. The service's own origins are PUBLIC_URL's and the one
 * that the request was sent to (`Host`), with PUBLIC_URL's scheme: a page of http is no part of a service of https.
 */
export function originCheck(settings: OriginSettings) {
  const isListed = corsOriginMatcher(settings);
  const { origin: own, protocol } = new URL(settings.publicUrl);
  return (request: Request, response: Response, next: NextFunction): void => {
    // Also on answers without CORS headers: a cache must not hand one of those to a storefront's page.
    response.vary('Origin');
    const { origin, host } = request.headers;
    const isAllowed =
      SAFE_METHODS.has(request.method) ||
      origin === undefined ||
      origin === own ||
      origin === `${protocol}//${host ?? ''}` ||
      isListed(origin);
    next(isAllowed ? undefined : failures.origin());
  };
}
