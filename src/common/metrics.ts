import { Counter, Gauge, Histogram, register } from 'prom-client';

/**
 * Everything that this process counts, for `/metrics` (src/metrics). A module increments a metric where the thing
 * happens. Labels have few values, all of them ours: no ids, addresses, texts or amounts.
 */
export const registry = register;

/** Seconds. External services are given 5 to 25. */
const CALL_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Seconds: those of OpenTelemetry's convention, and one below for answers from memory. */
const REQUEST_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** A counter with one label. It begins at 0 for each value: a series that begins at 1 hides its first event from `rate`. */
function counterBy<L extends string>(
  label: L,
  values: readonly string[],
  name: string,
  help: string,
): Counter<L> {
  const counter = new Counter({ name, help, labelNames: [label] });
  for (const value of values) counter.labels(value).inc(0);
  return counter;
}

/** @see https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#metric-httpserverrequestduration */
export const requestDuration = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Time from the parsed headers of a request to the end of its answer; status 499: the client left',
  labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
  buckets: REQUEST_BUCKETS,
});

export const unparsableRequests = counterBy(
  'http_response_status_code',
  ['400', '408', '413', '431'],
  'http_server_unparsable_requests_total',
  'Requests refused because they were no HTTP, too large in their headers or too slow, by status',
);

export const ordersCreated = new Counter({
  name: 'bakery_orders_created_total',
  help: 'Orders that were committed',
});

export const orderSteps = counterBy(
  'fulfilment',
  ['preparing', 'ready', 'collected', 'refused'],
  'bakery_orders_fulfilment_total',
  'Steps that administrators took with orders, by what the orders became',
);

const NOTIFICATION_OUTCOMES = [
  'applied',
  'duplicate',
  'stale',
  'test',
  'bad_signature',
  'invalid',
  'unknown_order',
  'failed',
] as const;
/** What happened to a payment notification that was answered. */
export type NotificationOutcome = (typeof NOTIFICATION_OUTCOMES)[number];

export const paymentNotifications = counterBy(
  'outcome',
  NOTIFICATION_OUTCOMES,
  'bakery_payment_notifications_total',
  'Payment notifications by outcome; failed: the gateway was asked to repeat it',
);

const RECONCILIATION_OUTCOMES = ['unchanged', 'found', 'expired', 'outdated', 'failed'] as const;
/** What asking the gateway about an order gave; `found` is news that no notification had brought. */
export type ReconciliationOutcome = (typeof RECONCILIATION_OUTCOMES)[number];

export const paymentReconciliations = counterBy(
  'outcome',
  RECONCILIATION_OUTCOMES,
  'bakery_payment_reconciliations_total',
  'Checks of pending orders at the gateway; found: news that no notification had brought',
);

export const mails = counterBy(
  'outcome',
  ['sent', 'retried', 'dead'],
  'bakery_mails_total',
  'Mails that were sent, tries that will be repeated (retried) and mails that were given up (dead)',
);

export const jobDuration = new Histogram({
  name: 'bakery_job_duration_seconds',
  help: 'Tries of jobs run by this process: done, failed (tried again) or dead (given up)',
  labelNames: ['task', 'outcome'],
  buckets: CALL_BUCKETS,
});

export const uploads = counterBy(
  'outcome',
  ['received', 'too_large', 'malformed'],
  'bakery_uploads_total',
  'Forms with pictures, by whether they could be read',
);

export const uploadBytes = new Counter({
  name: 'bakery_upload_bytes_total',
  help: 'Bytes of the pictures in the forms that were read',
});

export const uploadsInFlight = new Gauge({
  name: 'bakery_uploads_in_flight',
  help: 'Forms with pictures that are being read or worked on',
});

/** `slowed`: answered as wrong, even if right, after too many wrong guesses (docs/decisions/09). */
export const authProofs = new Counter({
  name: 'bakery_auth_proofs_total',
  help: 'Passwords (logins and changes of an account) and one-time codes given; slowed: too many were wrong',
  labelNames: ['secret', 'outcome'],
});
for (const secret of ['password', 'code'])
  for (const outcome of ['ok', 'wrong', 'slowed']) authProofs.inc({ secret, outcome }, 0);

export const catalogCachePages = counterBy(
  'result',
  ['hit', 'miss'],
  'bakery_catalog_cache_pages_total',
  'Pages of the product list by whether they were in memory',
);

export const catalogCacheBytes = new Gauge({
  name: 'bakery_catalog_cache_bytes',
  help: 'Memory that the serialised product list takes up',
});

const callDuration = new Histogram({
  name: 'bakery_neighbour_call_duration_seconds',
  help: 'Calls of the payment gateway and the image host, by operation and outcome',
  labelNames: ['neighbour', 'operation', 'outcome'],
  buckets: CALL_BUCKETS,
});

/**
 * Makes a call of an external service and measures it. A failure is passed on.
 * @param isRefusal whether a failure is an answer that says no, counted as `refused`; any other one is `failed`
 */
export async function timedCall<T>(
  neighbour: 'gateway' | 'image_host',
  operation: string,
  call: () => Promise<T>,
  isRefusal: (error: unknown) => boolean,
): Promise<T> {
  const end = callDuration.startTimer({ neighbour, operation });
  try {
    const result = await call();
    end({ outcome: 'ok' });
    return result;
  } catch (error) {
    end({ outcome: isRefusal(error) ? 'refused' : 'failed' });
    throw error;
  }
}
