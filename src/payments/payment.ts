import type { OrderRow } from '../orders/order.entity.js';
import { FAILED_STATUSES, isMoneyReceived } from '../orders/order-status.js';
import type { PaymentEvent } from './payment-event.entity.js';
import {
  canSucceed,
  computeNext,
  decideOutcome,
  isTransactionEvent,
  type Transaction,
  type TransactionEvent,
  type TransactionOutcome,
} from './transaction.js';

/** Payment of an order: the result of its history (docs/decisions/08). */
export interface Payment {
  /** The history itself, oldest first. */
  readonly events: readonly PaymentEvent[];
  /** Oldest first. */
  readonly transactions: readonly Transaction[];
  /**
   * Transaction with which the order was paid. Of those that hold money, the one that began to hold it first. Otherwise, the one
   * that was refunded in full last.
   */
  readonly paid: Transaction | undefined;
  /** Other transactions that hold money, which the shop has to return. */
  readonly surplus: readonly Transaction[];
  /** Status with which the service ended the order; null if it did not, or if money has arrived since. */
  readonly endedAs: 'cancel' | 'expire' | null;
}

/** Payment of an order without a history. */
export const NO_PAYMENT: Payment = {
  events: [],
  transactions: [],
  paid: undefined,
  surplus: [],
  endedAs: null,
};

/** Folds the history of an order, oldest first, into its payment. Rejected and unconfirmed events change nothing. */
export function foldHistory(order: OrderRow, events: readonly PaymentEvent[]): Payment {
  return events.reduce((payment, event) => {
    if (event.outcome === 'rejected' || event.outcome === 'unconfirmed')
      return { ...payment, events: [...payment.events, event] };
    return applyEvent(order, payment, event).payment;
  }, NO_PAYMENT);
}

/** Applies the next event of a history. Returns the payment afterwards, and the outcome of the event. */
export function applyEvent(order: OrderRow, before: Payment, event: PaymentEvent) {
  const { events: earlier } = before;
  let { transactions } = before;
  let outcome: TransactionOutcome = 'applied';
  if (isTransactionEvent(event)) {
    const index = transactions.findIndex(({ transactionId }) => transactionId === event.transactionId);
    const current = transactions[index];
    const next = computeNext(current, event, { total: order.grossAmount, position: earlier.length });
    outcome = isRedelivery(event, earlier) ? 'duplicate' : decideOutcome(current, next);
    if (outcome === 'applied')
      transactions = current === undefined ? [...transactions, next] : transactions.with(index, next);
  }
  const paid = findPaid(transactions);
  const endedAs =
    paid?.holdsMoney === true ? null : (decideEnd(order, transactions, event, outcome) ?? before.endedAs);
  const surplus = transactions.filter((other) => other !== paid && other.holdsMoney);
  const payment: Payment = { events: [...earlier, event], transactions, paid, surplus, endedAs };
  return { payment, outcome };
}

/** Fields of a notification that its redelivery repeats. */
const REPEATED_FIELDS = [
  'transactionId',
  'status',
  'statusCode',
  'grossAmount',
  'fraudStatus',
  'refundAmount',
] as const satisfies readonly (keyof PaymentEvent)[];

/**
 * Returns true if a notification repeats an earlier one, reports a refund that the service has recorded, or reports a failure that
 * a response of the gateway has already reported. The repetition of an unconfirmed notification is a redelivery only after
 * another event has confirmed its money.
 */
function isRedelivery(event: TransactionEvent, earlier: readonly PaymentEvent[]): boolean {
  if (event.source !== 'notification') return false;
  const hasSameStatus = ({ transactionId, status }: PaymentEvent) =>
    transactionId === event.transactionId && status === event.status;
  const isConfirmation = (known: PaymentEvent) =>
    known.outcome === 'applied' && hasSameStatus(known) && isMoneyReceived(event.status, known.fraudStatus);
  return earlier.some((known, position) => {
    // Responses can have another status code than the notification.
    if (known.source === 'cancellation' || known.source === 'reconciliation')
      return hasSameStatus(known) && FAILED_STATUSES.includes(event.status);
    // The service stores its own refund with the fields of the notification about that refund.
    if (REPEATED_FIELDS.some((field) => known[field] !== event[field])) return false;
    if (known.outcome === 'unconfirmed') return earlier.slice(position + 1).some(isConfirmation);
    return true;
  });
}

/** Returns the status with which the service itself ended the order by this event; null if the event does not end the order. */
function decideEnd(
  order: OrderRow,
  transactions: readonly Transaction[],
  { transactionId, attemptId, source, status, receivedAt }: PaymentEvent,
  outcome: TransactionOutcome,
): Payment['endedAs'] {
  if (status !== 'cancel' && status !== 'expire') return null;
  if (transactionId === null) return status;
  // The same `expiryDueAt` applied when the event was received, because an expired order gets no further page.
  const isExpiry = status === 'expire' && source === 'reconciliation' && receivedAt >= order.expiryDueAt;
  const isByService = outcome === 'applied' && (source === 'cancellation' || isExpiry);
  // The end of one transaction does not end an order that another transaction can still pay. Events of version 1.2 name no attempt.
  // Version 1.2 ended the order with such an event, so it always ends the order.
  const canBePaid = attemptId !== null && transactions.some(canSucceed);
  return isByService && !canBePaid ? status : null;
}

/**
 * Computes the payment columns of an order.
 * @param attemptId attempt that was paid or, if it is unknown, the attempt with the newest payment page
 */
export function computeOrderColumns(
  order: OrderRow,
  { transactions, paid, surplus, endedAs }: Payment,
  attemptId: string,
) {
  const chosen = paid ?? findLatest(transactions, attemptId);
  const completedAt = endedAs === null ? (chosen?.completedAt ?? null) : null;
  // Keep the stored values of the same transaction: version 1.2 stored a `completed_at` that differs from the history by
  // milliseconds, and its events may lack the payment type.
  const stored = order.transactionId === chosen?.transactionId ? order : null;
  return {
    status: paid?.status ?? endedAs ?? chosen?.status ?? 'pending',
    attemptId,
    transactionId: chosen?.transactionId ?? null,
    paymentType: chosen?.paymentType ?? stored?.paymentType ?? null,
    fraudStatus: chosen?.fraudStatus ?? null,
    transactionAmount: chosen?.grossAmount ?? null,
    refundedAmount: chosen?.refundedAmount ?? 0,
    surplusAmount: surplus.reduce((sum, { refundedAmount }) => sum + order.grossAmount - refundedAmount, 0),
    completedAt: completedAt === null ? null : (stored?.completedAt ?? completedAt),
  } satisfies Partial<OrderRow>;
}

function findPaid(transactions: readonly Transaction[]): Transaction | undefined {
  const byPosition = (field: 'heldFrom' | 'returnedAt') =>
    transactions
      .filter((transaction) => transaction[field] !== null)
      .toSorted((a, b) => Number(a[field]) - Number(b[field]));
  return byPosition('heldFrom')[0] ?? byPosition('returnedAt').at(-1);
}

/**
 * Finds the transaction that counts if no transaction was paid: the latest that has not failed, otherwise the latest. Returns
 * undefined if the newest payment page has no transaction.
 */
function findLatest(transactions: readonly Transaction[], newestAttemptId: string): Transaction | undefined {
  if (!transactions.some(({ attemptId }) => attemptId === newestAttemptId)) return undefined;
  // The gateway's time decides, because messages can arrive out of order. A tie goes to the one that was learned of later.
  const started = transactions.toSorted((a, b) => (a.startedAtMs ?? 0) - (b.startedAtMs ?? 0));
  return started.findLast(({ status }) => !FAILED_STATUSES.includes(status)) ?? started.at(-1);
}
