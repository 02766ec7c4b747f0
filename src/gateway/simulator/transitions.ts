export type TransactionStatus =
  | 'capture'
  | 'settlement'
  | 'pending'
  | 'deny'
  | 'cancel'
  | 'expire'
  | 'failure'
  | 'refund'
  | 'partial_refund'
  | 'authorize';

/**
 * What may become of a payment. After Midtrans' transaction status cycle, with a refund also before settlement and
 * without chargebacks, which no documented status of the service stands for.
 *
 * @see https://docs.midtrans.com/docs/transaction-status-cycle
 */
const TRANSITIONS: Readonly<Record<TransactionStatus, readonly TransactionStatus[]>> = {
  pending: ['settlement', 'deny', 'cancel', 'expire', 'failure'],
  authorize: ['capture', 'cancel'],
  capture: ['settlement', 'cancel', 'refund', 'partial_refund'],
  // A bank may take a settled payment back.
  settlement: ['refund', 'partial_refund', 'deny'],
  partial_refund: ['refund'],
  refund: [],
  deny: [],
  cancel: [],
  expire: [],
  failure: [],
};

export function mayBecome(status: TransactionStatus, next: TransactionStatus): boolean {
  return TRANSITIONS[status].includes(next);
}

/** Whether the page lets the customer choose a method: at first, and again after a payment that failed. */
export function mayStartPayment(
  { transactionStatus: status, expiresAt }: { transactionStatus: TransactionStatus | null; expiresAt: Date },
  now: Date,
): boolean {
  return (status === null || status === 'deny' || status === 'failure') && now < expiresAt;
}
