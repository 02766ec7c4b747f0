import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

// While tracing is off, OpenTelemetry's API does nothing.

/** The current span as a `traceparent` header (W3C Trace Context); undefined outside of any span. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/**
 * Runs a job in a span of a new trace: it may run days after the request that enqueued it, and more than once.
 * @param cause `traceparent` of the span that enqueued it, which is linked
 */
export function inJobSpan<T>(task: string, cause: string | undefined, work: () => Promise<T>): Promise<T> {
  const enqueued = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent: cause }));
  const options = {
    kind: SpanKind.CONSUMER,
    root: true,
    links: enqueued === undefined ? [] : [{ context: enqueued }],
    attributes: { 'job.task': task },
  };
  return inSpan(`job ${task}`, options, work);
}

/** Calls an external service in a span, for an HTTP client that OpenTelemetry does not instrument here (undici). */
export function inCallSpan<T extends { readonly httpStatus: number }>(
  method: string,
  url: string,
  call: () => Promise<T>,
): Promise<T> {
  const attributes = { 'http.request.method': method, 'url.full': url };
  return inSpan(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const answer = await call();
    span.setAttribute('http.response.status_code', answer.httpStatus);
    return answer;
  });
}

function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  return trace.getTracer('bakery-catalog-service').startActiveSpan(name, options, async (span) => {
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
