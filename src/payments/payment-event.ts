import type { OrderPayment } from '../orders/orders.service.js';

/** Origin of a payment event. `reconciliation` is a response of the gateway to a check of the order. */
export type EventSource = 'notification' | 'reconciliation' | 'cancellation' | 'refund';

/** Decision on a payment event. A `late` event is stored but not applied. */
export type Outcome = 'applied' | 'duplicate' | 'late';

/** A fact about one transaction of an order. */
export interface PaymentEvent extends Omit<OrderPayment, 'refundedAmount'> {
  readonly source: EventSource;
  readonly statusCode: string;
  /** Sum of the refunds of the transaction at the gateway, in whole rupiah; null if the event does not say. */
  readonly refundAmount: string | null;
  /** Body as received. */
  readonly payload: string;
}
