import { isCompleted } from '../orders/order-status.js';
import type { Order, OrderPayment } from '../orders/orders.service.js';
import type { EventSource, Outcome, PaymentNotification } from './payment-notification.entity.js';

/** New status of one transaction of an order, reported by the gateway or recorded as a refund (Terms: payment event). */
export interface PaymentEvent extends OrderPayment {
  readonly source: EventSource;
  readonly statusCode: string;
  /** Sum of the refunds of the transaction at the gateway, in whole rupiah; null if the event does not say. */
  readonly refundAmount: number | null;
  /** Body as received. */
  readonly payload: string;
}

type History = readonly PaymentNotification[];

/** Statuses with which a transaction begins, in this order. All others come after them. */
const FIRST_STATUSES: readonly string[] = ['pending', 'authorize'];

/**
 * Decides on a payment event (docs/decisions/08).
 * - A redelivery changes nothing.
 * - `pending` or `authorize` after a later status of the same transaction is late.
 * - If the attempt is no longer current (docs/decisions/07), only `settlement` and `capture` apply. For example, the expiry
 *   of an old payment page must not cancel an order that was paid on a newer page.
 * - Every other event applies, even `deny` after `settlement`.
 *
 * @param order current state
 * @param history stored events of the event's transaction
 */
export function decideOutcome(
  event: PaymentEvent,
  order: Pick<Order, 'status' | 'transactionId' | 'currentAttemptId'>,
  history: History,
): Exclude<Outcome, 'rejected'> {
  const isSameTransaction = order.transactionId === event.transactionId;
  // The service records each refund once, so there are no duplicates. If another payment has replaced the refunded one, the
  // order shows the other payment.
  if (event.source === 'refund') return isSameTransaction ? 'applied' : 'late';

  const applied = history.filter(({ outcome }) => outcome === 'applied');
  // The gateway reports the full refund of a captured payment as a cancellation.
  const isRefunded = applied.some(
    (stored) => stored.source === 'refund' && stored.transactionStatus === 'refund',
  );
  if (event.status === 'cancel' && isRefunded) return 'duplicate';

  const statuses = applied.map(({ transactionStatus }) => transactionStatus ?? '');
  const isShownByOrder = isSameTransaction && order.status === event.status;
  const isOfOtherAttempt = event.attemptId !== order.currentAttemptId;
  const isKnown =
    event.source === 'notification'
      ? isRedelivery(event, history, isShownByOrder)
      : // The order may have been paid twice. A status response must not switch the payment that the order shows.
        isShownByOrder || (isOfOtherAttempt && isCompleted(order.status) && statuses.includes(event.status));
  if (isKnown) return 'duplicate';
  if (isOfOtherAttempt && !isCompleted(event.status)) return 'late';
  return statuses.some((status) => isBefore(event.status, status)) ? 'late' : 'applied';
}

/** Returns true if a transaction has the first status before the second. */
function isBefore(status: string, other: string): boolean {
  const position = FIRST_STATUSES.indexOf(status);
  return position !== -1 && !FIRST_STATUSES.slice(0, position + 1).includes(other);
}

/**
 * Returns true if an identical notification is stored, or if a response of the gateway with the same result is what the
 * order currently reflects. Status codes of responses are ignored: `expire` has 407 in a response and 202 in a notification.
 */
function isRedelivery(event: PaymentEvent, history: History, isShownByOrder: boolean): boolean {
  return history.some(
    (stored) =>
      stored.transactionStatus === event.status &&
      stored.grossAmount === event.grossAmount &&
      stored.fraudStatus === event.fraudStatus &&
      // Two partial refunds may differ only in the total refunded so far.
      (event.refundAmount === null || stored.refundAmount === event.refundAmount) &&
      (stored.source === 'notification' ? stored.statusCode === event.statusCode : isShownByOrder),
  );
}
