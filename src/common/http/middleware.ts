import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { failures } from '../errors/failures.js';
import { requestDuration } from '../observability/metrics.js';
import { identifyRequest, isSafeMethod, requestIdOf, routeOf } from './request-info.js';

/** Settings that the middleware needs. A subset of `Env`, which `common` must not import. */
interface HttpSettings {
  readonly corsOrigins?: readonly string[];
  readonly nodeEnv: string;
  readonly publicUrl: string;
  readonly trustedProxies: number | string;
}

export const MAX_HEADERS = 100;
/** Largest JSON body in bytes (contract 8). */
const JSON_BODY_LIMIT = 100 * 1024;
/** Status in metrics and log of a client that disconnected before the response began. nginx uses 499 too. */
const CLIENT_LEFT = 499;
const LOOPBACK_ORIGIN = /^http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?$/;

/** Adds the Express middleware, in the order in which a request passes it. The functions below follow in the same order. */
export function addMiddleware(app: NestExpressApplication, settings: HttpSettings, logger: Logger): void {
  app.set('trust proxy', settings.trustedProxies);
  app.use(identifyRequest);
  app.use(logRequests(logger));
  // `upgrade-insecure-requests` would break the API page and the simulator's forms on a service that is reached by plain http.
  app.useSecurityHeaders({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  app.enableCors({
    origin: (origin: string | undefined, done: (error: null, isAllowed: boolean) => void) => {
      done(null, origin !== undefined && isCorsOrigin(settings, origin));
    },
    credentials: true,
    // A browser hides these headers from pages of another origin by default.
    exposedHeaders: ['X-Request-Id', 'ETag'],
    maxAge: 600, // seconds for which a browser may cache the response to a preflight request
  });
  app.use(rejectInvalidHeaders);
  app.use(checkOrigin(settings));
  app.use(rejectUnreadableJson);
  app.useBodyParser('json', { limit: JSON_BODY_LIMIT });
}

/** Measures and logs each request. Omits query, headers, cookies and body, and does not log requests for /api/health. */
function logRequests(logger: Logger) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const { method = '', url = '' } = request;
    const end = requestDuration.startTimer();
    response.once('close', () => {
      const { statusCode, headersSent, writableFinished } = response;
      // The status of a request that was rejected on its connection is at least 400.
      const status = headersSent || statusCode >= 400 ? statusCode : CLIENT_LEFT;
      const seconds = end({
        http_request_method: method,
        // A label must not contain paths that clients make up.
        http_route: routeOf(request) ?? 'none',
        http_response_status_code: status,
      });
      if (url.startsWith('/api/health')) return;
      const line = {
        req: { method, path: url.split('?', 1)[0] },
        res: { status },
        durationMs: Math.round(seconds * 1000),
        requestId: requestIdOf(response),
        aborted: writableFinished ? undefined : true,
      };
      if (status >= 500) logger.error(line, 'request');
      else logger.info(line, 'request');
    });
    next();
  };
}

/** Returns true for an origin that CORS_ORIGINS allows. Without CORS_ORIGINS, development allows loopback origins. */
export function isCorsOrigin({ corsOrigins, nodeEnv }: HttpSettings, origin: string): boolean {
  return corsOrigins?.includes(origin) ?? (nodeEnv !== 'production' && LOOPBACK_ORIGIN.test(origin));
}

/** Rejects HTTP/1.1 requests without exactly one Host (RFC 9112 section 3.2) and requests with too many headers. */
function rejectInvalidHeaders(request: Request, _response: Response, next: NextFunction): void {
  const hosts = request.headersDistinct.host?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) next(failures.malformedRequest());
  else if (request.rawHeaders.length > 2 * MAX_HEADERS) next(failures.headersTooLarge());
  else next();
}

/**
 * Rejects state-changing requests of foreign pages (contract 10.8), because CORS does not stop a form post. The service's own
 * origins are PUBLIC_URL and the request's `Host` with the scheme of PUBLIC_URL.
 */
function checkOrigin(settings: HttpSettings) {
  const { origin: own, protocol } = new URL(settings.publicUrl);
  return (request: Request, response: Response, next: NextFunction): void => {
    // A cache must not return a response without CORS headers to a storefront's page, which needs these headers.
    response.vary('Origin');
    const { origin, host } = request.headers;
    const isAllowed =
      isSafeMethod(request.method) ||
      origin === undefined ||
      origin === own ||
      origin === `${protocol}//${host ?? ''}` ||
      isCorsOrigin(settings, origin);
    next(isAllowed ? undefined : failures.originNotAllowed());
  };
}

/**
 * Rejects a JSON body by its headers. The body parser would read the whole body before it rejects its length, would decode UTF-7,
 * which takes up to 240 ms for 100 KiB, and would decompress Brotli, which takes 40 ms and 16 MiB for 51 bytes. JSON is always
 * UTF-8 (RFC 8259 section 8.1).
 */
function rejectUnreadableJson(request: Request, _response: Response, next: NextFunction): void {
  const { 'content-length': length = 0, 'content-type': type = '' } = request.headers;
  const isBrotli = request.headers['content-encoding']?.toLowerCase() === 'br';
  const isOtherCharset = /charset\s*=(?!\s*"?utf-8\b)/i.test(type);
  if (!request.is('json')) next();
  else if (Number(length) > JSON_BODY_LIMIT) next(failures.tooLarge());
  else next(isBrotli || isOtherCharset ? failures.unsupportedEncoding() : undefined);
}
