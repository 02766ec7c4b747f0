import type { Instrumentation } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { IncomingMessage, ServerResponse } from 'node:http';
import { routeOf } from '../common/request-route.js';

/** What is asked every few seconds and tells nothing: health checks, and the metrics on their own port. */
const UNTRACED = /^\/(api\/health(\/|$)|metrics($|\?))/;

/** Spans of requests, of calls of neighbours and of statements; the latter only inside of a request or a job. */
export function instrumentations(): Instrumentation[] {
  return [
    new HttpInstrumentation({
      ignoreIncomingRequestHook: ({ url = '' }) => UNTRACED.test(url),
      requireParentforOutgoingSpans: true,
      applyCustomAttributesOnSpan: (span, request, response) => {
        if (!(request instanceof IncomingMessage) || !(response instanceof ServerResponse)) return;
        const route = routeOf(request);
        if (route === null) return;
        span.setAttribute('http.route', route);
        span.updateName(`${request.method ?? ''} ${route}`);
      },
    }),
    // The queue and the catalog's heartbeat ask the database all the time: without a parent, no span.
    new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true }),
  ];
}
