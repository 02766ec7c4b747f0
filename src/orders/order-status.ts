import type { TransactionStatus } from '../gateway/payment-gateway.js';

/** Statuses that mean that the shop received money and did not return all of it. */
const PAID_STATUSES: readonly TransactionStatus[] = ['settlement', 'capture', 'partial_refund'];
/** Fraud statuses with which a captured card payment does not count as paid: the shop may have to return the money. */
const DOUBTFUL_FRAUD_STATUSES: readonly string[] = ['deny', 'challenge'];

/** Returns true if the shop received an order's money and did not return all of it. */
export function isPaid(order: {
  readonly status: TransactionStatus;
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
export function isCompleted(status: TransactionStatus): boolean {
  return status === 'settlement' || status === 'capture';
}
