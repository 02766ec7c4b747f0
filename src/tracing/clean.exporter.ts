import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

type OnExported = Parameters<SpanExporter['export']>[1];

/** What may leave the service. Whatever else an instrumentation thinks of is not sent until somebody looked at it. */
const ALLOWED = new Set([
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'url.scheme',
  'url.full',
  'network.protocol.version',
  'error.type',
  'exception.type',
  'db.system.name',
  'db.namespace',
  'db.operation.name',
  // The statement as it is prepared: `$1` stands where a value would.
  'db.query.text',
  'job.task',
]);
/** On a request's span these are what the caller wrote into `Host`. */
const ALLOWED_OF_CALLS = new Set(['server.address', 'server.port']);
const FAILURE_INTERVAL_MS = 60_000;
const SUCCESS = 0;

/**
 * Sends spans without what may hold a secret or name a person: query strings, paths with tokens in them, addresses,
 * user agents, and the texts of errors, which repeat values.
 */
export class CleanExporter implements SpanExporter {
  /** Told at most once a minute that spans could not be sent. */
  onFailure: (() => void) | null = null;
  #failedAt = -Infinity;

  constructor(private readonly exporter: SpanExporter) {}

  export(spans: ReadableSpan[], onExported: OnExported): void {
    this.exporter.export(spans.map(cleaned), (result) => {
      if (Number(result.code) !== SUCCESS) this.#fail();
      onExported(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  #fail(): void {
    const now = performance.now();
    if (now - this.#failedAt < FAILURE_INTERVAL_MS) return;
    this.#failedAt = now;
    this.onFailure?.();
  }
}

/** A copy: the span itself has its values behind getters. */
function cleaned(span: ReadableSpan): ReadableSpan {
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => span.spanContext(),
    ...(span.parentSpanContext !== undefined && { parentSpanContext: span.parentSpanContext }),
    startTime: span.startTime,
    endTime: span.endTime,
    status: { code: span.status.code },
    attributes: allowed(span.attributes, span.kind),
    links: span.links,
    events: span.events.map(({ attributes = {}, ...event }) => ({
      ...event,
      attributes: allowed(attributes, span.kind),
    })),
    duration: span.duration,
    ended: span.ended,
    resource: span.resource,
    instrumentationScope: span.instrumentationScope,
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  };
}

function allowed(attributes: Attributes, kind: SpanKind): Attributes {
  return Object.fromEntries(
    Object.entries(attributes)
      .filter(([name]) => ALLOWED.has(name) || (kind === SpanKind.CLIENT && ALLOWED_OF_CALLS.has(name)))
      .map(([name, value]) => [name, name === 'url.full' ? withoutQuery(value) : value]),
  );
}

/** Origin and path of an address. */
function withoutQuery(value: Attributes[string]): string {
  if (typeof value !== 'string' || !URL.canParse(value)) return '';
  const { origin, pathname } = new URL(value);
  return origin + pathname;
}
