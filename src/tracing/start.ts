import { IncomingMessage } from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { routeOf } from '../common/http/request-info.js';
import type { Env } from '../config/env.js';

/** Health checks and metrics, which are requested every few seconds. */
const UNTRACED = /^\/(api\/health(\/|$)|metrics($|\?))/;
const FLUSH_MS = 1000;

/**
 * Starts OpenTelemetry. Must run before the service is loaded, because OpenTelemetry replaces functions of `http` and `pg`.
 * @returns a function that sends the remaining spans and stops tracing, within a second even if the collector is unavailable
 */
export function startTracing({ otelServiceName }: Env): () => Promise<void> {
  diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.ERROR);
  const provider = new NodeTracerProvider({
    resource: detectResources({ detectors: [envDetector] }).merge(
      resourceFromAttributes({ 'service.name': otelServiceName }),
    ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  registerInstrumentations({
    tracerProvider: provider,
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: (request) => {
          // A client may choose the trace id, but must not exclude its request from tracing. The last part of the header is the
          // sampling decision.
          const { traceparent } = request.headers;
          if (typeof traceparent === 'string')
            request.headers.traceparent = traceparent.replace(/-[\da-f]{2}$/, '-01');
          return UNTRACED.test(request.url ?? '');
        },
        requireParentforOutgoingSpans: true,
        applyCustomAttributesOnSpan: (span, request) => {
          if (!(request instanceof IncomingMessage)) return;
          // Paths contain tokens of payment pages and queries contain search terms, so only the route pattern is sent.
          const route = routeOf(request) ?? '';
          span.setAttributes({ 'http.route': route, 'url.path': route, 'url.query': '' });
          span.updateName(`${request.method ?? ''} ${route}`.trim());
        },
      }),
      // Statements without a parent span get no span, because most of them are polls of the job queue.
      new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true }),
    ],
  });
  // `require` lets OpenTelemetry patch a module. `syncBuiltinESMExports` updates named imports of `http` and `https`.
  const require = createRequire(import.meta.url);
  for (const module of ['http', 'https', 'pg']) require(module);
  syncBuiltinESMExports();
  return async () => {
    await Promise.race([
      provider.shutdown().catch(() => undefined),
      delay(FLUSH_MS, undefined, { ref: false }),
    ]);
  };
}
