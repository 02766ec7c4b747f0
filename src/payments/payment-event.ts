import type { TransactionStatus } from '../gateway/payment-gateway.js';
import { isCompleted } from '../orders/order-status.js';
import type { Order } from '../orders/orders.service.js';
import type { EventSource, Outcome, StoredPaymentEvent } from './stored-payment-event.entity.js';

/** New status of one transaction of an order, reported by the gateway or recorded as a refund (Terms: payment event). */
export interface PaymentEvent {
  readonly source: EventSource;
  readonly attemptId: string;
  readonly transactionId: string;
  readonly status: TransactionStatus;
  readonly statusCode: string;
  /** As received, for example `185000.00`. */
  readonly grossAmount: string;
  /** Sum of the refunds of the transaction at the gateway, in whole rupiah; null if the event does not say. */
  readonly refundAmount: number | null;
  readonly paymentType: string | null;
  readonly fraudStatus: string | null;
  /** Body as received. For a refund made outside of the gateway, JSON that the service wrote. */
  readonly payload: string;
}

/**
 * Decides on a payment event (docs/decisions/08). The code begins with the rule for the source `refund`. The other rules:
 * - An event that reports nothing new is a duplicate, for example a redelivery.
 * - `pending` or `authorize` after a later status of the same transaction is late.
 * - If the attempt is no longer current (docs/decisions/07), only `settlement` and `capture` apply. For example, the expiry
 *   of an old payment page must not cancel an order that was paid on a newer page.
 * - Every other event applies, even `deny` after `settlement`.
 * @param order current state
 * @param history stored events of the event's transaction
 */
export function decideOutcome(
  event: PaymentEvent,
  order: Pick<Order, 'status' | 'transactionId' | 'currentAttemptId'>,
  history: readonly StoredPaymentEvent[],
): Exclude<Outcome, 'rejected'> {
  const isSameTransaction = order.transactionId === event.transactionId;
  // The service records each refund once, so a refund is no duplicate. It is late if the order now shows another payment.
  if (event.source === 'refund') return isSameTransaction ? 'applied' : 'late';

  const applied = history.filter(({ outcome }) => outcome === 'applied');
  // After a full refund, the gateway may still report a cancellation (of a captured payment), or fewer refunds than were made.
  const isRefunded = applied.some(
    (stored) => stored.source === 'refund' && stored.transactionStatus === 'refund',
  );
  if (isRefunded && ['cancel', 'partial_refund'].includes(event.status)) return 'duplicate';

  const appliedStatuses = applied.map(({ transactionStatus }) => transactionStatus ?? '');
  const isShownByOrder = isSameTransaction && order.status === event.status;
  // A further partial refund differs only in the total refunded so far.
  const hasNewSum =
    event.refundAmount !== null && !applied.some((stored) => stored.refundAmount === event.refundAmount);
  const isOfOtherAttempt = event.attemptId !== order.currentAttemptId;
  const isKnown =
    event.source === 'notification'
      ? isKnownNotification(event, history, isShownByOrder)
      : // If two attempts were paid, the order shows the latest one. A response with an applied status of the other is no news.
        (isShownByOrder && !hasNewSum) ||
        (isOfOtherAttempt && isCompleted(order.status) && appliedStatuses.includes(event.status));
  if (isKnown) return 'duplicate';
  if (isOfOtherAttempt && !isCompleted(event.status)) return 'late';
  const isLate = appliedStatuses.some((status) => rankStatus(status) > rankStatus(event.status));
  return isLate ? 'late' : 'applied';
}

/** Returns the rank of a status within a transaction: first `pending`, then `authorize`, then every other status. */
function rankStatus(status: string): number {
  return status === 'pending' ? 0 : status === 'authorize' ? 1 : 2;
}

/**
 * Returns true if an identical notification is stored, or if a response of the gateway with the same result is stored and
 * the order still shows that result. Ignores status codes of responses: `expire` has 407 in a response, 202 in a notification.
 */
function isKnownNotification(
  event: PaymentEvent,
  history: readonly StoredPaymentEvent[],
  isShownByOrder: boolean,
): boolean {
  return history.some(
    (stored) =>
      stored.transactionStatus === event.status &&
      stored.grossAmount === event.grossAmount &&
      stored.fraudStatus === event.fraudStatus &&
      (event.refundAmount === null || stored.refundAmount === event.refundAmount) &&
      (stored.source === 'notification' ? stored.statusCode === event.statusCode : isShownByOrder),
  );
}
