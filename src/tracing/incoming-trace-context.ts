import { type Context, type TextMapGetter, type TextMapPropagator, trace } from '@opentelemetry/api';
import { parseTraceparent } from './traceparent.js';

const TRACEPARENT = 'traceparent';

/**
 * Takes a caller's trace and gives ours to nobody: the only ones that this service calls are third parties, to whom
 * our ids say which of their requests belong together. `tracestate` and `baggage` are left: no one here reads them.
 */
export class IncomingTraceContext implements TextMapPropagator {
  inject(): void {
    // See above.
  }

  extract(context: Context, carrier: unknown, getter: TextMapGetter): Context {
    const header = getter.get(carrier, TRACEPARENT);
    const parent = typeof header === 'string' ? parseTraceparent(header) : null;
    return parent === null ? context : trace.setSpanContext(context, parent);
  }

  fields(): string[] {
    return [TRACEPARENT];
  }
}
