import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { requestIdOf, routeOf } from '../http/request-info.js';
import { requestDuration } from './metrics.js';

/** Status in metrics and log of a client that disconnected before the response began. nginx uses 499 too. */
const CLIENT_LEFT = 499;

/** Measures and logs each request. Omits query, headers, cookies and body, and does not log requests for /api/health. */
export function requestLog(logger: Logger) {
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
