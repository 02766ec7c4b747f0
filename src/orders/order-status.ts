import type { TransactionStatus } from '../gateway/payment-gateway.js';

/** The only statuses that a paid order can have. `Order.isPaid` contains the other conditions. */
const PAID_STATUSES: readonly TransactionStatus[] = ['settlement', 'capture', 'partial_refund'];
/** Fraud statuses with which a captured card payment does not count as paid: the shop may have to return the money. */
const DOUBTFUL_FRAUD_STATUSES: readonly string[] = ['deny', 'challenge'];

/** Statuses of a transaction whose money was returned, in part or in full. */
export const REFUND_STATUSES: readonly TransactionStatus[] = ['partial_refund', 'refund'];
/** Statuses of a transaction that failed, after which the customer can pay on another payment page. */
export const RETRYABLE_STATUSES: readonly TransactionStatus[] = ['deny', 'failure', 'expire'];
/** Statuses of a transaction that failed. Only an event that reports received or returned money changes them. */
export const FAILED_STATUSES: readonly TransactionStatus[] = [...RETRYABLE_STATUSES, 'cancel'];
/** The only statuses that an open order can have. `Order.isOpen` contains the other conditions. */
export const OPEN_STATUSES: readonly TransactionStatus[] = [
  'pending',
  'authorize',
  'capture',
  ...RETRYABLE_STATUSES,
];

/** Progress of an order in the bakery. The order's `status` is the progress of its payment. */
export const FULFILMENTS = ['new', 'preparing', 'ready', 'collected', 'refused'] as const;
export type Fulfilment = (typeof FULFILMENTS)[number];

/** Steps that an order can take from each step, forwards and back. Only a paid order can become preparing. */
export const NEXT_STEPS: Readonly<Record<Fulfilment, readonly Fulfilment[]>> = {
  new: ['preparing', 'refused'],
  preparing: ['ready', 'refused', 'new'],
  ready: ['collected', 'refused', 'preparing'],
  collected: ['ready'],
  refused: [],
};

/** Maximum time in which an order can be paid, counted from its creation. */
export const PAY_TIME_HOURS = 24;
/** Time after the end of the newest payment page, for notifications of payments that were made at the last moment. */
export const GRACE_HOURS = 1;

/** `Order.isPaid` in SQL. `o` is the alias of the table `orders`. */
export const IS_PAID = `(o.status IN ${inSql(PAID_STATUSES)}
  AND NOT (o.status = 'capture' AND coalesce(o.fraud_status, '') IN ${inSql(DOUBTFUL_FRAUD_STATUSES)})
  AND o.refunded_amount < o.gross_amount)`;
/** `Order.endOfPayment` in SQL. `o` is the alias of the table `orders`. */
const END_OF_PAYMENT = `coalesce(o.pay_until, o.created_at + interval '${PAY_TIME_HOURS} hours')`;
/** `Order.expiryDueAt` in SQL. `o` is the alias of the table `orders`. */
export const EXPIRY_DUE_AT = `(${END_OF_PAYMENT} + interval '${GRACE_HOURS} hours')`;
/** `Order.isOpen` in SQL. `o` is the alias of the table `orders`. */
export const IS_OPEN = `(o.first_paid_at IS NULL AND o.status IN ${inSql(OPEN_STATUSES)} AND o.fulfilment <> 'refused'
  AND ${END_OF_PAYMENT} > now())`;
/** `Order.isRefundDue` in SQL. `o` is the alias of the table `orders`. */
export const IS_REFUND_DUE = `(o.surplus_amount > 0 OR o.fulfilment = 'refused' AND ${IS_PAID})`;

export function inSql(statuses: readonly string[]): string {
  return `('${statuses.join("', '")}')`;
}

/** Returns true if the statuses mean that money was received and not returned in full. The refunded amount decides too. */
export function isMoneyReceived(status: TransactionStatus, fraudStatus: string | null): boolean {
  const isDoubtful = status === 'capture' && DOUBTFUL_FRAUD_STATUSES.includes(fraudStatus ?? '');
  return PAID_STATUSES.includes(status) && !isDoubtful;
}

/** Returns true for a captured card payment that was denied as fraud: the customer's payment cannot succeed. */
export function isDeniedAsFraud(status: TransactionStatus, fraudStatus: string | null): boolean {
  return status === 'capture' && fraudStatus === 'deny';
}

/** Returns true for the two statuses that set `completed_at`. The order may still count as unpaid: see `Order.isPaid`. */
export function isCompleted(status: TransactionStatus | null): boolean {
  return status === 'settlement' || status === 'capture';
}

/** Payment columns of an order whose newest page has no transaction (see `computeOrderColumns` in payments). */
export const NO_TRANSACTION = {
  status: 'pending',
  transactionId: null,
  transactionAmount: null,
  paymentType: null,
  fraudStatus: null,
  completedAt: null,
} as const;
