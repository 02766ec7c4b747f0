import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { currentRequestId } from './request-id.js';

/**
 * One line a request, when it has ended: method, path without its query, status, milliseconds; no header, cookie or
 * body. Probes of /api/health have none. Written here, since pino-http makes two loggers for each request.
 */
export function requestLog(logger: Logger) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const { method, url = '' } = request;
    if (!url.startsWith('/api/health')) {
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
