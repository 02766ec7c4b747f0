import { TRANSACTION_STATUSES, type TransactionStatus } from '../gateway/payment-gateway.js';

/** States of an order are those of its payment. */
export const ORDER_STATUSES = TRANSACTION_STATUSES;
export type OrderStatus = TransactionStatus;

/** The part of an order that payments change. */
export interface PaymentState {
  readonly status: OrderStatus;
  readonly transactionId: string | null;
  readonly completedAt: Date | null;
}

/** Statuses of orders that hold money, unless all of it was returned. */
const PAID_STATUSES: readonly OrderStatus[] = ['settlement', 'capture', 'partial_refund'];
/** Fraud statuses of captured card payments that the shop may have to return. */
const DOUBTFUL_FRAUD_STATUSES: readonly string[] = ['deny', 'challenge'];

/** Returns true if the shop received an order's money and did not return all of it. */
export function isPaid(order: {
  readonly status: OrderStatus;
  readonly fraudStatus: string | null;
  readonly grossAmount: string;
  readonly refundedAmount: string;
}): boolean {
  return (
    PAID_STATUSES.includes(order.status) &&
    !(order.status === 'capture' && DOUBTFUL_FRAUD_STATUSES.includes(order.fraudStatus ?? '')) &&
    Number(order.refundedAmount) < Number(order.grossAmount)
  );
}

/** `isPaid` as a condition in SQL. @param orders name or alias of the table `orders` in the statement */
export function isPaidSql(orders: string): string {
  return (
    `(${orders}.status IN (${listInSql(PAID_STATUSES)})` +
    ` AND NOT (${orders}.status = 'capture'` +
    ` AND coalesce(${orders}.fraud_status, '') IN (${listInSql(DOUBTFUL_FRAUD_STATUSES)}))` +
    ` AND ${orders}.refunded_amount < ${orders}.gross_amount)`
  );
}

function listInSql(constants: readonly string[]): string {
  return constants.map((constant) => `'${constant}'`).join(', ');
}

/** Returns true for the two statuses that set `completed_at`. See `isPaid` for orders whose money has arrived. */
export function isCompleted(status: OrderStatus): boolean {
  return status === 'settlement' || status === 'capture';
}

/**
 * Returns an order's state after a payment event (contract 3). `completed_at` is the time of completion. It stays while the
 * same transaction stays completed (a capture that is settled), and is null in every other state.
 */
export function afterPayment(
  order: PaymentState,
  event: Pick<PaymentState, 'status'> & { readonly transactionId: string },
  now: Date,
): PaymentState {
  const wasCompleted = order.transactionId === event.transactionId ? order.completedAt : null;
  return {
    status: event.status,
    transactionId: event.transactionId,
    completedAt: isCompleted(event.status) ? (wasCompleted ?? now) : null,
  };
}
