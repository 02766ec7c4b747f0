import { type Span, type SpanOptions, SpanStatusCode, trace } from '@opentelemetry/api';

/** Runs work in a span. An error marks the span as failed. */
export function runInSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
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
