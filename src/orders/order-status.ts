import { TRANSACTION_STATUSES, type TransactionStatus } from '../gateway/payment-gateway.js';

/** States of an order are those of its payment. */
export const ORDER_STATUSES = TRANSACTION_STATUSES;
export type OrderStatus = TransactionStatus;

/** Statuses of orders that hold money, unless all of it was returned. */
const PAID_STATUSES: readonly OrderStatus[] = ['settlement', 'capture', 'partial_refund'];
/** Fraud statuses of captured card payments that the shop may have to return. */
const DOUBTFUL_FRAUD_STATUSES: readonly string[] = ['deny', 'challenge'];

/** Returns true if the shop received an order's money and did not return all of it. */
export function isPaid(order: {
  readonly status: OrderStatus;
  readonly fraudStatus: string | null;
  readonly grossAmount: number;
  readonly refundedAmount: number;
}): boolean {
  return (
    PAID_STATUSES.includes(order.status) &&
    !(order.status === 'capture' && DOUBTFUL_FRAUD_STATUSES.includes(order.fraudStatus ?? '')) &&
    order.refundedAmount < order.grossAmount
  );
}

/** Returns `isPaid` as a condition in SQL. @param orders name or alias of the table `orders` */
export function isPaidSql(orders: string): string {
  return (
    `(${orders}.status IN ('${PAID_STATUSES.join("', '")}')` +
    ` AND NOT (${orders}.status = 'capture'` +
    ` AND coalesce(${orders}.fraud_status, '') IN ('${DOUBTFUL_FRAUD_STATUSES.join("', '")}'))` +
    ` AND ${orders}.refunded_amount < ${orders}.gross_amount)`
  );
}

/** Returns true for the two statuses that set `completed_at`. They do not mean that the order is paid: see `isPaid`. */
export function isCompleted(status: OrderStatus): boolean {
  return status === 'settlement' || status === 'capture';
}
