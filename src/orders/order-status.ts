import { TRANSACTION_STATUSES, type TransactionStatus } from '../gateway/payment-gateway.js';

/** Every state of an order: that of its payment. */
export const ORDER_STATUSES = TRANSACTION_STATUSES;
export type OrderStatus = TransactionStatus;

/** The part of an order that payments change. */
export interface PaymentState {
  readonly status: OrderStatus;
  readonly transactionId: string | null;
  readonly completedAt: Date | null;
}

/** Whether an order in this state is paid for. */
export function isCompleted(status: OrderStatus): boolean {
  return status === 'settlement' || status === 'capture';
}

/**
 * An order's state after news of a transaction (contract 3): `completed_at` is the time of completion, kept while the
 * same transaction stays completed (a capture that is settled), and null in every other state.
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
