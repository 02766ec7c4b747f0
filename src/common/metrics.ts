import { Counter, Gauge, Histogram } from 'prom-client';

// Labels must not contain ids, addresses, texts or amounts: each new value adds a time series, and may be personal data.

/** Seconds. Calls to external services time out after 5 to 25. */
const CALL_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Seconds: the buckets of OpenTelemetry's convention, and 0.001 for responses from the cache. */
const REQUEST_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Creates a counter that starts at 0 for all label values: `rate` ignores the first event of a series that starts at 1. */
function createCounter<L extends string>(
  name: string,
  help: string,
  labels: Readonly<Record<L, readonly string[]>>,
): Counter<L> {
  const labelNames = Object.keys(labels) as L[];
  const counter = new Counter({ name, help, labelNames });
  // Each label multiplies the combinations of the labels before it by its own values.
  const combinations = labelNames.reduce<Partial<Record<L, string>>[]>(
    (previous, label) =>
      previous.flatMap((combination) => labels[label].map((value) => ({ ...combination, [label]: value }))),
    [{}],
  );
  for (const combination of combinations) counter.inc(combination, 0);
  return counter;
}

/** @see https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#metric-httpserverrequestduration */
export const requestDuration = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Time from the parsed headers of a request to the end of its response; status 499: the client left',
  labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
  buckets: REQUEST_BUCKETS,
});

export const unparsableRequests = createCounter(
  'http_server_unparsable_requests_total',
  'Requests rejected by the HTTP parser: malformed, too large or too slow, by status',
  { http_response_status_code: ['400', '408', '413', '431'] },
);

export const ordersCreated = new Counter({
  name: 'bakery_orders_created_total',
  help: 'Orders that were committed',
});

export const orderSteps = createCounter(
  'bakery_orders_fulfilment_total',
  'Changes of the fulfilment that administrators made, by new fulfilment',
  { fulfilment: ['preparing', 'ready', 'collected', 'refused'] },
);

const NOTIFICATION_OUTCOMES = [
  ...(['applied', 'duplicate', 'late', 'stale', 'test'] as const), // response 200
  ...(['bad_signature', 'invalid', 'unknown_order', 'failed'] as const), // any other response
];
export type NotificationOutcome = (typeof NOTIFICATION_OUTCOMES)[number];

export const paymentNotifications = createCounter(
  'bakery_payment_notifications_total',
  'Payment notifications by outcome; stale: a copy of late, removed in version 1.3; failed: the gateway retries',
  { outcome: NOTIFICATION_OUTCOMES },
);

export const refunds = createCounter(
  'bakery_refunds_total',
  'Refunds by outcome; manual: made outside of the gateway; rejected: the gateway cannot refund the payment; failed: ' +
    'the gateway is unavailable, and the job retries',
  { outcome: ['succeeded', 'manual', 'rejected', 'failed'] },
);

const RECONCILIATION_OUTCOMES = ['unchanged', 'found', 'expired', 'outdated', 'failed'] as const;
export type ReconciliationOutcome = (typeof RECONCILIATION_OUTCOMES)[number];

export const paymentReconciliations = createCounter(
  'bakery_payment_reconciliations_total',
  'Checks of pending orders at the gateway; found: an update without a notification',
  { outcome: RECONCILIATION_OUTCOMES },
);

export const mails = createCounter(
  'bakery_mails_total',
  'Mails by outcome; retried: failed attempts with a retry; dead: failed for good',
  { outcome: ['sent', 'retried', 'dead'] },
);

export const jobDuration = new Histogram({
  name: 'bakery_job_duration_seconds',
  help: 'Duration of attempts of jobs in this process: done, failed (with a retry) or dead (without)',
  labelNames: ['task', 'outcome'],
  buckets: CALL_BUCKETS,
});

export const uploads = createCounter('bakery_uploads_total', 'Forms with pictures by outcome', {
  outcome: ['received', 'too_large', 'too_slow', 'malformed'],
});

export const uploadBytes = new Counter({
  name: 'bakery_upload_bytes_total',
  help: 'Bytes of pictures in received forms',
});

export const uploadsInFlight = new Gauge({
  name: 'bakery_uploads_in_flight',
  help: 'Forms with pictures in progress',
});

export const authProofs = createCounter(
  'bakery_auth_proofs_total',
  'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected after too many guesses',
  { secret: ['password', 'code'], outcome: ['ok', 'wrong', 'slowed'] },
);

export const catalogCachePages = createCounter(
  'bakery_catalog_cache_pages_total',
  'Cache lookups for pages of the product list',
  { result: ['hit', 'miss'] },
);

export const catalogCacheBytes = new Gauge({
  name: 'bakery_catalog_cache_bytes',
  help: 'Memory of the cached product list',
});

const callDuration = new Histogram({
  name: 'bakery_neighbour_call_duration_seconds',
  help: 'Duration of calls to the payment gateway and the image host by operation and outcome',
  labelNames: ['neighbour', 'operation', 'outcome'],
  buckets: CALL_BUCKETS,
});

/** Measures a call to an external service. An error that `isRejection` recognizes counts as `refused`, others as `failed`. */
export async function timedCall<T>(
  neighbour: 'gateway' | 'image_host',
  operation: string,
  call: () => Promise<T>,
  isRejection: (error: unknown) => boolean,
): Promise<T> {
  const end = callDuration.startTimer({ neighbour, operation });
  try {
    const result = await call();
    end({ outcome: 'ok' });
    return result;
  } catch (error) {
    end({ outcome: isRejection(error) ? 'refused' : 'failed' });
    throw error;
  }
}
