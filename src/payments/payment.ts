import type { OrderRow } from '../orders/order.entity.js';
import type { PaymentEvent } from './payment-event.entity.js';
import {
  computeNext,
  decideOutcome,
  hasFailed,
  holdsMoney,
  isOfTransaction,
  isOpenTransaction,
  isRefundedInFull,
  type Transaction,
} from './transaction.js';

/** Payment of an order: the result of its history (docs/decisions/08). */
export interface Payment {
  /** Oldest first. */
  readonly transactions: readonly Transaction[];
  /** Status with which the service ended the order; null if it did not, or if money has arrived since. */
  readonly endedAs: 'cancel' | 'expire' | null;
  /** Outcome of the last event that was neither rejected nor unconfirmed; `applied` if there is none. */
  readonly lastOutcome: ReturnType<typeof decideOutcome>;
}

/**
 * Folds the history of an order, oldest first, into its transactions. Ignores rejected events. An unconfirmed event changes no
 * transaction; once the gateway has confirmed its money, a redelivery of the event is a duplicate.
 */
export function foldHistory(order: OrderRow, history: readonly PaymentEvent[]): Payment {
  const transactions = new Map<string, Transaction>();
  const unconfirmed: PaymentEvent[] = [];
  /** Keys of the notifications whose redelivery changes nothing. */
  const knownKeys = new Set<string>();
  let endedAs: Payment['endedAs'] = null;
  let lastOutcome: Payment['lastOutcome'] = 'applied';
  for (const [position, event] of history.entries()) {
    if (event.outcome === 'unconfirmed') unconfirmed.push(event);
    if (event.outcome === 'rejected' || event.outcome === 'unconfirmed') continue;
    lastOutcome = 'applied';
    if (isOfTransaction(event)) {
      const current = transactions.get(event.transactionId);
      const next = computeNext(current, event, { total: order.grossAmount, position });
      const key = toDeduplicationKey(event);
      const isRedelivery = event.source === 'notification' && knownKeys.has(key);
      lastOutcome = isRedelivery ? 'duplicate' : decideOutcome(current, next);
      if (event.source === 'notification' || event.source === 'refund') knownKeys.add(key);
      if (lastOutcome === 'applied') {
        transactions.set(event.transactionId, next);
        for (const earlier of unconfirmed)
          if (isConfirmedBy(earlier, next)) knownKeys.add(toDeduplicationKey(earlier));
      }
    }
    const known = [...transactions.values()];
    if (known.some(holdsMoney)) endedAs = null;
    // The end of one transaction does not end an order that another transaction can still pay. An event of version 1.2
    // names no attempt and always ends the order: 1.2 records the end separately only if no response of the gateway ended it.
    else if (event.transactionId === null || event.attemptId === null || !known.some(isOpenTransaction))
      endedAs = findEnd(order, event, lastOutcome) ?? endedAs;
  }
  return { transactions: [...transactions.values()], endedAs, lastOutcome };
}

/**
 * Returns the deduplication key of a notification. A refund that the service records itself has the same key as the gateway's
 * notification of that refund.
 */
function toDeduplicationKey(event: PaymentEvent): string {
  const { transactionId, status, statusCode, grossAmount, fraudStatus, refundAmount } = event;
  return JSON.stringify([transactionId, status, statusCode, grossAmount, fraudStatus, refundAmount]);
}

/** Returns true if the gateway has confirmed the money that an unconfirmed notification reported. */
function isConfirmedBy({ transactionId, status }: PaymentEvent, transaction: Transaction): boolean {
  const isSame = transactionId === transaction.transactionId && status === transaction.status;
  return isSame && holdsMoney(transaction);
}

/** Returns the status with which the service itself ended the order by this event; null if the event does not end the order. */
function findEnd(
  order: OrderRow,
  { transactionId, source, status, receivedAt }: PaymentEvent,
  outcome: Payment['lastOutcome'],
): Payment['endedAs'] {
  if (status !== 'cancel' && status !== 'expire') return null;
  const isExpiry = status === 'expire' && source === 'reconciliation' && receivedAt >= order.expiryDueAt;
  const isEndOfTransaction = outcome === 'applied' && (source === 'cancellation' || isExpiry);
  return transactionId === null || isEndOfTransaction ? status : null;
}

/** @param newestAttemptId attempt with the newest payment page */
export function computeOrderColumns(
  order: OrderRow,
  { transactions, endedAs }: Payment,
  newestAttemptId: string,
) {
  const paid = findPaid(transactions);
  const chosen = paid ?? findLatest(transactions, newestAttemptId);
  const surplus = transactions.filter((other) => other !== paid && holdsMoney(other));
  const completedAt = (endedAs === null ? chosen : paid)?.completedAt ?? null;
  // Keep the values of version 1.2: its time differs by milliseconds, and its history may lack the payment type.
  const stored = order.transactionId === chosen?.transactionId ? order : null;
  return {
    status: paid?.status ?? endedAs ?? chosen?.status ?? 'pending',
    attemptId: paid?.attemptId ?? newestAttemptId,
    transactionId: chosen?.transactionId ?? null,
    paymentType: chosen?.paymentType ?? stored?.paymentType ?? null,
    fraudStatus: chosen?.fraudStatus ?? null,
    transactionAmount: chosen?.grossAmount ?? null,
    refundedAmount: chosen?.refundedAmount ?? 0,
    surplusAmount: surplus.reduce((sum, { refundedAmount }) => sum + order.grossAmount - refundedAmount, 0),
    completedAt: completedAt === null ? null : (stored?.completedAt ?? completedAt),
  } satisfies Partial<OrderRow>;
}

/** Finds the first transaction that holds money, otherwise the last that was refunded in full. It counts for the order. */
export function findPaid(transactions: readonly Transaction[]): Transaction | undefined {
  const held = sortBy(transactions.filter(holdsMoney), (each) => each.heldSincePosition ?? 0);
  const refunded = sortBy(transactions.filter(isRefundedInFull), (each) => each.lastChangePosition);
  return held[0] ?? refunded.at(-1);
}

/**
 * Finds the transaction that counts if none was paid: none if the newest payment page has no transaction, otherwise the latest
 * that has not failed, otherwise the latest.
 */
function findLatest(transactions: readonly Transaction[], newestAttemptId: string): Transaction | undefined {
  if (!transactions.some(({ attemptId }) => attemptId === newestAttemptId)) return undefined;
  // The gateway's time decides, because messages can arrive out of order. A tie goes to the one that was learned of later.
  const started = sortBy(transactions, ({ startedAt }) => startedAt ?? 0);
  return started.findLast((transaction) => !hasFailed(transaction)) ?? started.at(-1);
}

/** Sorts transactions by a number, lowest first. Transactions with the same number keep their order. */
function sortBy(transactions: readonly Transaction[], toNumber: (transaction: Transaction) => number) {
  return transactions.toSorted((a, b) => toNumber(a) - toNumber(b));
}
