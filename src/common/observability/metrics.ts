import { Counter, Histogram } from 'prom-client';

// Labels must not contain ids, addresses, texts or amounts: each new value adds a time series, and may be personal data.

/** Upper bounds in seconds for calls to external services, which time out after 5 to 25 seconds, and for jobs. */
export const DURATION_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Upper bounds in seconds: those of OpenTelemetry's convention, and 0.001 for responses from the cache. */
const REQUEST_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Creates a counter that starts at 0 for each value of its label: `rate` ignores the first event of a series that starts at 1. */
export function createCounter<L extends string>(
  name: string,
  help: string,
  label: L,
  values: readonly string[],
): Counter<L> {
  const counter = new Counter({ name, help, labelNames: [label] });
  for (const value of values) counter.labels(value).inc(0);
  return counter;
}

/** @see https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#metric-httpserverrequestduration */
export const requestDuration = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Time from the parsed headers of a request to the end of its response; status 499: the client left',
  labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
  buckets: REQUEST_BUCKETS,
});

export const earlyRejections = createCounter(
  'http_server_unparsable_requests_total',
  'Requests that were rejected on their connection before a handler ran, by status: malformed, too large or too slow',
  'http_response_status_code',
  ['400', '408', '413', '431'],
);

// The name of the metric, the label `neighbour` and the outcome `refused` stay, because dashboards of version 1.2 select them.
const callDuration = new Histogram({
  name: 'bakery_neighbour_call_duration_seconds',
  help: 'Duration of calls to the payment gateway and the image host by operation and outcome',
  labelNames: ['neighbour', 'operation', 'outcome'],
  buckets: DURATION_BUCKETS,
});

/**
 * Measures a call to an external service. The outcome is `refused` for an error that `isRejection` recognizes, and `failed` for
 * any other error.
 */
export async function measureCall<T>(
  service: 'gateway' | 'image_host',
  operation: string,
  call: () => Promise<T>,
  isRejection: (error: unknown) => boolean,
): Promise<T> {
  const end = callDuration.startTimer({ neighbour: service, operation });
  try {
    const result = await call();
    end({ outcome: 'ok' });
    return result;
  } catch (error) {
    end({ outcome: isRejection(error) ? 'refused' : 'failed' });
    throw error;
  }
}
