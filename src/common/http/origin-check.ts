import type { NextFunction, Request, Response } from 'express';
import { failures } from '../errors/failures.js';
import { isSafeMethod } from './request-info.js';

const LOOPBACK_ORIGIN = /^http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?$/;

interface OriginSettings {
  readonly corsOrigins?: readonly string[];
  readonly nodeEnv: string;
  readonly publicUrl: string;
}

/** Returns true for an origin that CORS_ORIGINS allows. Without CORS_ORIGINS, development allows loopback origins. */
export function isCorsOrigin({ corsOrigins, nodeEnv }: OriginSettings, origin: string): boolean {
  return corsOrigins?.includes(origin) ?? (nodeEnv !== 'production' && LOOPBACK_ORIGIN.test(origin));
}

/**
 * Rejects state-changing requests of foreign pages (contract 10.8), because CORS does not stop a form post. The service's own
 * origins are PUBLIC_URL and the request's `Host` with the scheme of PUBLIC_URL.
 */
export function originCheck(env: OriginSettings) {
  const { origin: own, protocol } = new URL(env.publicUrl);
  return (request: Request, response: Response, next: NextFunction): void => {
    // A cache must not return a response without CORS headers to a storefront's page, which needs these headers.
    response.vary('Origin');
    const { origin, host } = request.headers;
    const isAllowed =
      isSafeMethod(request.method) ||
      origin === undefined ||
      origin === own ||
      origin === `${protocol}//${host ?? ''}` ||
      isCorsOrigin(env, origin);
    next(isAllowed ? undefined : failures.originNotAllowed());
  };
}
