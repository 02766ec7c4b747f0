import { type GatewayTransaction, GatewayUnavailableError } from '../gateway/payment-gateway.js';
import { ORDER_STATUSES, type OrderStatus } from '../orders/order-status.js';

/** How something became known: the gateway told us, or we asked, or it confirmed what we asked for. */
export type EventSource = 'notification' | 'reconciliation' | 'cancellation';

/** What became known of a transaction. */
export interface PaymentEvent {
  readonly source: EventSource;
  /** Id under which the gateway has the payment: the order's own or a later attempt's. */
  readonly attemptId: string;
  readonly status: OrderStatus;
  readonly transactionId: string;
  readonly statusCode: string;
  readonly grossAmount: string;
  readonly paymentType: string;
  readonly fraudStatus: string | null;
  /** As received. */
  readonly payload: string;
}

/**
 * An answer of the gateway's as an event.
 * @throws GatewayUnavailableError when it names a status that no order can have
 */
export function eventOf(
  transaction: GatewayTransaction,
  source: Exclude<EventSource, 'notification'>,
  attemptId: string,
): PaymentEvent {
  const { transactionStatus, ...rest } = transaction;
  const status = ORDER_STATUSES.find((known) => known === transactionStatus);
  if (status === undefined)
    throw new GatewayUnavailableError('the gateway answered an unknown transaction status');
  return { ...rest, status, source, attemptId };
}
