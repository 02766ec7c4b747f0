import { createCounter } from '../common/observability/metrics.js';

const NOTIFICATION_OUTCOMES = [
  // Response 200
  'applied',
  'duplicate',
  'late',
  'unconfirmed',
  'test',
  // Any other response
  'bad_signature',
  'invalid',
  'incomplete',
  'unknown_order',
  'failed',
] as const;
export type NotificationOutcome = (typeof NOTIFICATION_OUTCOMES)[number];

export const paymentNotifications = createCounter(
  'bakery_payment_notifications_total',
  'Payment notifications by outcome; unconfirmed: money for an order that has ended; incomplete: without fraud_status, as ' +
    'some payment methods send it; failed: the gateway retries',
  'outcome',
  NOTIFICATION_OUTCOMES,
);

export const refundOutcomes = createCounter(
  'bakery_refunds_total',
  'Refunds by outcome; manual: made outside of the gateway; rejected: the gateway cannot refund the payment; failed: ' +
    'the gateway is unavailable, and the job retries',
  'outcome',
  ['succeeded', 'manual', 'rejected', 'failed'],
);

const RECONCILIATION_OUTCOMES = ['unchanged', 'found', 'expired', 'outdated', 'failed'] as const;
export type ReconciliationOutcome = (typeof RECONCILIATION_OUTCOMES)[number];

export const paymentReconciliations = createCounter(
  'bakery_payment_reconciliations_total',
  'Checks of unpaid orders at the gateway; found: an update without a notification',
  'outcome',
  RECONCILIATION_OUTCOMES,
);
