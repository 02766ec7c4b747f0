import type { TransactionStatus } from '../gateway/payment-gateway.js';

/** The only statuses that a paid order can have. `Order.isPaid` contains the other conditions. */
export const PAID_STATUSES: readonly TransactionStatus[] = ['settlement', 'capture', 'partial_refund'];
/** Fraud statuses with which a captured card payment does not count as paid: the shop may have to return the money. */
export const DOUBTFUL_FRAUD_STATUSES: readonly string[] = ['deny', 'challenge'];

/** Returns `Order.isPaid` as a condition in SQL. @param orders name or alias of the table `orders` */
export function isPaidSql(orders: string): string {
  return (
    `(${orders}.status IN ('${PAID_STATUSES.join("', '")}')` +
    ` AND NOT (${orders}.status = 'capture'` +
    ` AND coalesce(${orders}.fraud_status, '') IN ('${DOUBTFUL_FRAUD_STATUSES.join("', '")}'))` +
    ` AND ${orders}.refunded_amount < ${orders}.gross_amount)`
  );
}

/** Returns true for the two statuses that set `completed_at`. The order may still count as unpaid: see `Order.isPaid`. */
export function isCompleted(status: TransactionStatus): boolean {
  return status === 'settlement' || status === 'capture';
}
