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

/** Returns the `traceparent` header of the current span (W3C Trace Context); undefined outside of any span. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Runs a job in a new trace, because jobs may wait for days. The trace links to the span that enqueued the job. */
export function inJobSpan<T>(task: string, traceparent: string | undefined, work: () => Promise<T>) {
  const enqueued = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
  const options = {
    kind: SpanKind.CONSUMER,
    root: true,
    links: enqueued === undefined ? [] : [{ context: enqueued }],
    attributes: { 'job.task': task },
  };
  return inSpan(`job ${task}`, options, work);
}

/** Calls an external service in a span, because undici is not instrumented. */
export function inCallSpan<T extends { readonly httpStatus: number }>(
  method: string,
  url: string,
  call: () => Promise<T>,
): Promise<T> {
  const attributes = { 'http.request.method': method, 'url.full': url };
  return inSpan(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const response = await call();
    span.setAttribute('http.response.status_code', response.httpStatus);
    return response;
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
