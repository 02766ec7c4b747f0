import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { currentRequestId } from './request-id.js';

/** Middleware that writes a line for each request, once however often it meets it. */
export type RequestLog = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/**
 * One line a request, when it has ended: method, path without its query, status, milliseconds; no header, cookie or
 * body. Probes of /api/health have none. Written here, since pino-http makes two loggers for each request.
 */
export function requestLog(logger: Logger): RequestLog {
  const met = new WeakSet<IncomingMessage>();
  return (request, response, next) => {
    const { method, url = '' } = request;
    if (!met.has(request) && !url.startsWith('/api/health')) {
      met.add(request);
      const begun = Date.now();
      // Named in the line: the events of an aborted request come from outside its context.
      const requestId = currentRequestId();
      response.once('close', () => {
        const { statusCode: status, writableFinished } = response;
        const line = {
          req: { method, path: url.split('?', 1)[0] },
          res: { status },
          durationMs: Date.now() - begun,
          requestId,
          ...(!writableFinished && { aborted: true }),
        };
        if (status >= 500) logger.error(line, 'request');
        else logger.info(line, 'request');
      });
    }
    next();
  };
}
