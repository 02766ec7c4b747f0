import { isCompleted, type OrderStatus, type PaymentState } from '../orders/order-status.js';
import type { Outcome, PaymentEvent } from './payment-event.js';
import type { PaymentNotification } from './payment-notification.entity.js';

/** A line of the history of a transaction. */
export type HistoryLine = Pick<
  PaymentNotification,
  'source' | 'outcome' | 'transactionStatus' | 'statusCode' | 'grossAmount' | 'fraudStatus'
>;

/** A transaction begins with these, in this order; all others come after them. */
const FIRST_STATUSES: readonly string[] = ['pending', 'authorize'];

/**
 * Decides on an event (docs/decisions/08). A redelivery changes nothing. `pending` or `authorize` that arrives after a
 * later status is late. Everything else applies, `deny` after `settlement` included. Of an attempt that no longer
 * counts only a completion applies: the end of its page must not undo a sale made on the next one.
 *
 * @param order as it is now
 * @param currentAttemptId the payment attempt that counts (docs/decisions/07)
 * @param history what is kept of the event's transaction
 */
export function outcomeOf(
  event: PaymentEvent,
  order: PaymentState,
  currentAttemptId: string,
  history: readonly HistoryLine[],
): Outcome {
  const applied = history
    .filter(({ outcome }) => outcome === 'applied')
    .map(({ transactionStatus }) => transactionStatus ?? '');
  const isOfOtherAttempt = event.attemptId !== currentAttemptId;
  const isCurrent = order.status === event.status && order.transactionId === event.transactionId;

  const isKnown =
    event.source === 'notification'
      ? wasNotified(event, history) || (isCurrent && wasAnswered(event, history))
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

/** Whether a notification said just the same. */
function wasNotified(event: PaymentEvent, history: readonly HistoryLine[]): boolean {
  return history.some(
    (line) =>
      line.source === 'notification' && line.statusCode === event.statusCode && saysTheSame(line, event),
  );
}

/** Whether an answer said the same, with any status code: `expire` has 407 there, and 202 when notified. */
function wasAnswered(event: PaymentEvent, history: readonly HistoryLine[]): boolean {
  return history.some((line) => line.source !== 'notification' && saysTheSame(line, event));
}

function saysTheSame(line: HistoryLine, event: PaymentEvent): boolean {
  return (
    line.transactionStatus === event.status &&
    line.grossAmount === event.grossAmount &&
    line.fraudStatus === event.fraudStatus
  );
}
