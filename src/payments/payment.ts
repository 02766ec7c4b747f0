import { FAILED_STATUSES } from '../orders/order-status.js';
import type { Order } from '../orders/orders.service.js';
import type { PaymentEvent } from './payment-event.entity.js';
import {
  applyEvent,
  holdsMoney,
  isOfTransaction,
  isRefundedInFull,
  type Transaction,
} from './transaction.js';

/** Payment of an order: the result of its history (docs/decisions/08). */
export interface Payment {
  /** Oldest first. */
  readonly transactions: readonly Transaction[];
  /** Status with which the service ended the order; null if it did not, or if money has arrived since. */
  readonly endedAs: 'cancel' | 'expire' | null;
  readonly lastOutcome: 'applied' | 'duplicate' | 'late';
}

/** Folds the history of an order, oldest first, into its transactions. Ignores events that were rejected or are unconfirmed. */
export function foldHistory(order: Order, history: readonly PaymentEvent[]): Payment {
  const transactions = new Map<string, Transaction>();
  const seenKeys = new Set<string>();
  let endedAs: Payment['endedAs'] = null;
  let lastOutcome: Payment['lastOutcome'] = 'applied';
  for (const [position, event] of history.entries()) {
    if (event.outcome === 'rejected' || event.outcome === 'unconfirmed') continue;
    lastOutcome = 'applied';
    const { source, status } = event;
    if (isOfTransaction(event)) {
      const current = transactions.get(event.transactionId);
      const key = toDeduplicationKey(event);
      const isRedelivery = source === 'notification' && seenKeys.has(key);
      if (source === 'notification' || source === 'refund') seenKeys.add(key);
      const next = isRedelivery ? 'duplicate' : applyEvent(current, event, order.grossAmount, position);
      if (typeof next === 'string') lastOutcome = next;
      else {
        transactions.set(event.transactionId, next);
        for (const confirmed of history.slice(0, position).filter((earlier) => isConfirmedBy(earlier, next)))
          seenKeys.add(toDeduplicationKey(confirmed));
      }
    }
    if ([...transactions.values()].some(holdsMoney)) endedAs = null;
    else if ((status === 'cancel' || status === 'expire') && endsOrder(order, event, lastOutcome))
      endedAs = status;
  }
  return { transactions: [...transactions.values()], endedAs, lastOutcome };
}

/** Returns true for an unconfirmed notification that the gateway has confirmed since, so that a redelivery reports nothing new. */
function isConfirmedBy({ outcome, ...event }: PaymentEvent, transaction: Transaction): boolean {
  const isSame = event.transactionId === transaction.transactionId && event.status === transaction.status;
  return outcome === 'unconfirmed' && isSame && holdsMoney(transaction);
}

/** Returns true if the service itself cancelled or expired the order with this event. */
function endsOrder(
  order: Order,
  { transactionId, source, status, receivedAt }: PaymentEvent,
  outcome: Payment['lastOutcome'],
): boolean {
  if (transactionId === null) return true;
  const isExpiry = status === 'expire' && source === 'reconciliation' && receivedAt >= order.expiresAt;
  return outcome === 'applied' && (source === 'cancellation' || isExpiry);
}

/**
 * Returns the deduplication key of a notification. A refund that the service records itself has the same key as the gateway's
 * notification of that refund.
 */
function toDeduplicationKey(event: PaymentEvent): string {
  const { transactionId, status, statusCode, grossAmount, fraudStatus, refundAmount } = event;
  return JSON.stringify([transactionId, status, statusCode, grossAmount, fraudStatus, refundAmount]);
}

/**
 * Chooses the transaction that counts: the first that holds money, otherwise the last that was refunded in full, otherwise
 * none if the newest payment page has no transaction, otherwise the latest that has not failed, otherwise the latest.
 * @param newestAttemptId attempt with the newest payment page
 */
export function chooseTransaction(
  transactions: readonly Transaction[],
  newestAttemptId: string,
): Transaction | null {
  const held = transactions.filter(holdsMoney);
  if (held.length > 0)
    return held.reduce((a, b) => ((b.heldSincePosition ?? 0) < (a.heldSincePosition ?? 0) ? b : a));
  const refunded = transactions.filter(isRefundedInFull);
  if (refunded.length > 0)
    return refunded.reduce((a, b) => (b.lastChangePosition > a.lastChangePosition ? b : a));
  if (!transactions.some(({ attemptId }) => attemptId === newestAttemptId)) return null;
  const open = transactions.filter(({ status }) => !FAILED_STATUSES.includes(status));
  const candidates = open.length > 0 ? open : transactions;
  // The gateway's time decides, because messages can arrive out of order. A tie goes to the one that was learned of later.
  return candidates.reduce((a, b) => ((b.startedAt ?? 0) >= (a.startedAt ?? 0) ? b : a));
}

export function toOrderColumns(order: Order, payment: Payment, newestAttemptId: string) {
  const { transactions, endedAs } = payment;
  const chosen = chooseTransaction(transactions, newestAttemptId);
  const surplus = transactions.filter((other) => other !== chosen && holdsMoney(other));
  const wasPaid = chosen !== null && (holdsMoney(chosen) || isRefundedInFull(chosen));
  const completedAt = endedAs === null || wasPaid ? (chosen?.completedAt ?? null) : null;
  // Keep the values of version 1.2: its time differs by milliseconds, and its history may lack the payment type.
  const stored = order.transactionId === chosen?.transactionId ? order : null;
  return {
    status: wasPaid ? chosen.status : (endedAs ?? chosen?.status ?? 'pending'),
    attemptId: (wasPaid ? chosen.attemptId : null) ?? newestAttemptId,
    transactionId: chosen?.transactionId ?? null,
    paymentType: chosen?.paymentType ?? stored?.paymentType ?? null,
    fraudStatus: chosen?.fraudStatus ?? null,
    transactionAmount: chosen?.grossAmount ?? null,
    refundedAmount: chosen?.refundedAmount ?? 0,
    surplusAmount: surplus.reduce((sum, { refundedAmount }) => sum + order.grossAmount - refundedAmount, 0),
    completedAt: completedAt === null ? null : (stored?.completedAt ?? completedAt),
  } satisfies Partial<Order>;
}
