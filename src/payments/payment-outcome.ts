import { isCompleted, type OrderStatus, type PaymentState } from '../orders/order-status.js';
import type { Outcome, PaymentEvent } from './payment-event.js';
import type { PaymentNotification } from './payment-notification.entity.js';

/** A transaction begins with these, in this order; all others come after them. */
const FIRST_STATUSES: readonly string[] = ['pending', 'authorize'];

/**
 * Decides on an event (docs/decisions/08). A redelivery changes nothing. `pending` or `authorize` that arrives after a
 * later status is late. Everything else applies, `deny` after `settlement` included. Of an attempt that no longer
 * counts (docs/decisions/07) only a completion applies: the end of its page must not undo a sale made on the next one.
 *
 * @param order as it is now
 * @param history what is kept of the event's transaction
 */
export function outcomeOf(
  event: PaymentEvent,
  order: PaymentState & { readonly currentAttemptId: string },
  history: readonly PaymentNotification[],
): Outcome {
  const applied = history
    .filter(({ outcome }) => outcome === 'applied')
    .map(({ transactionStatus }) => transactionStatus ?? '');
  const isOfOtherAttempt = event.attemptId !== order.currentAttemptId;
  const isCurrent = order.status === event.status && order.transactionId === event.transactionId;

  const isKnown =
    event.source === 'notification'
      ? wasHeard(event, history, isCurrent)
      : // An order that was paid twice shows one payment: asking again must not make it show the other.
        isCurrent || (isOfOtherAttempt && isCompleted(order.status) && applied.includes(event.status));
  if (isKnown) return 'duplicate';
  if (isOfOtherAttempt && !isCompleted(event.status)) return 'late';
  return applied.some((status) => isBefore(event.status, status)) ? 'late' : 'applied';
}

/** Whether a transaction has the first status before the second. */
function isBefore(status: OrderStatus, other: string): boolean {
  const place = FIRST_STATUSES.indexOf(status);
  return place !== -1 && !FIRST_STATUSES.slice(0, place + 1).includes(other);
}

/**
 * Whether a notification said just the same. If it is what the order shows, also whether an answer did, with any status
 * code: `expire` has 407 there, and 202 when notified.
 */
function wasHeard(event: PaymentEvent, history: readonly PaymentNotification[], isCurrent: boolean): boolean {
  return history.some(
    (line) =>
      line.transactionStatus === event.status &&
      line.grossAmount === event.grossAmount &&
      line.fraudStatus === event.fraudStatus &&
      (line.source === 'notification' ? line.statusCode === event.statusCode : isCurrent),
  );
}
