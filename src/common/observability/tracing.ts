import { type Span, SpanKind, type SpanOptions, SpanStatusCode, trace } from '@opentelemetry/api';

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
    // Midtrans answers with 404 and 407 in normal operation, so a 4xx does not mark the span as failed.
    if (response.httpStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    return response;
  });
}

export function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
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
