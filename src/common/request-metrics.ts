import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestDuration } from './metrics.js';
import { routeOf } from './request-route.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** OpenTelemetry's name for every other method. */
const OTHER_METHOD = '_OTHER';
/** One value for every path without a route: clients could make up any number of paths. */
const NO_ROUTE = 'none';
/** nginx's status for a client that left before the answer began; it is never sent. */
const CLIENT_LEFT = 499;

/** Middleware that measures a request until its answer has ended, by route pattern, method and status. */
export function measureRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const end = requestDuration.startTimer();
  response.once('close', () => {
    const { method = '' } = request;
    end({
      http_request_method: METHODS.has(method) ? method : OTHER_METHOD,
      http_route: routeOf(request) ?? NO_ROUTE,
      http_response_status_code: response.headersSent ? response.statusCode : CLIENT_LEFT,
    });
  });
  next();
}
