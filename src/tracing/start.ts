import {
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { type RunningTracing, type Tracing, useTracing } from '../common/tracing.js';
import type { TracingSetting } from '../config/observability.js';
import { CleanExporter } from './clean.exporter.js';
import { IncomingTraceContext } from './incoming-trace-context.js';
import { instrumentations } from './instrumentations.js';
import { formatTraceparent, parseTraceparent } from './traceparent.js';

const NAME = 'bakery-catalog-service';
/** What a stop waits for the last spans to leave; they are not worth more of its 10 seconds. */
const FLUSH_MS = 1000;

/**
 * Starts tracing. To be called before anything loads `http` or `pg`.
 *
 * `pg` is CommonJS and `http` is built in: both are instrumented by changing the one object that every importer
 * shares, as it is required here. Names imported from `node:http` are copies of its properties, which
 * `syncBuiltinESMExports` makes anew; so no loader hook is needed for ESM.
 */
export function startTracing({ serviceName }: TracingSetting): RunningTracing {
  const exporter = new CleanExporter(new OTLPTraceExporter());
  const provider = new NodeTracerProvider({
    resource: detectResources({ detectors: [envDetector] }).merge(
      resourceFromAttributes({ 'service.name': serviceName }),
    ),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  provider.register({ propagator: new IncomingTraceContext() });
  registerInstrumentations({ instrumentations: instrumentations(), tracerProvider: provider });
  const require = createRequire(import.meta.url);
  for (const module of ['http', 'https', 'pg']) require(module);
  syncBuiltinESMExports();
  useTracing(new OpenTelemetryTracing());
  return {
    onExportFailure: (listener) => {
      exporter.onFailure = listener;
    },
    stop: async () => {
      const done = new AbortController();
      const giveUp = delay(FLUSH_MS, undefined, { signal: done.signal }).catch(() => undefined);
      await Promise.race([
        provider.shutdown().catch(() => {
          // The collector is away: its spans are lost, which nobody should wait for.
        }),
        giveUp,
      ]);
      done.abort();
    },
  };
}

class OpenTelemetryTracing implements Tracing {
  readonly #tracer = trace.getTracer(NAME);

  current(): SpanContext | undefined {
    return trace.getActiveSpan()?.spanContext();
  }

  traceparent(): string | undefined {
    const span = this.current();
    return span === undefined ? undefined : formatTraceparent(span);
  }

  job<T>(task: string, cause: string | undefined, work: () => Promise<T>): Promise<T> {
    const context = cause === undefined ? null : parseTraceparent(cause);
    const options = {
      kind: SpanKind.CONSUMER,
      // Not a child: a job may run days after the request that led to it, and more than once.
      root: true,
      links: context === null ? [] : [{ context }],
      attributes: { 'job.task': task },
    };
    return this.#within(`job ${task}`, options, work);
  }

  call<T extends { readonly httpStatus: number }>(
    method: string,
    url: string,
    work: () => Promise<T>,
  ): Promise<T> {
    const attributes = { 'http.request.method': method, 'url.full': url };
    return this.#within(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const answer = await work();
      span.setAttribute('http.response.status_code', answer.httpStatus);
      return answer;
    });
  }

  #within<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
    return this.#tracer.startActiveSpan(name, options, async (span) => {
      try {
        return await work(span);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  }
}
