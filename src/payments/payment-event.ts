import { type GatewayTransaction, GatewayUnavailableError } from '../gateway/payment-gateway.js';
import { ORDER_STATUSES } from '../orders/order-status.js';
import type { OrderPayment } from '../orders/orders.service.js';

/** How something became known: the gateway told us, or we asked, or it confirmed what we asked for. */
export type EventSource = 'notification' | 'reconciliation' | 'cancellation';

/** What becomes of an event: `late` is kept but not applied. */
export type Outcome = 'applied' | 'duplicate' | 'late';

/** What became known of a transaction. */
export interface PaymentEvent extends OrderPayment {
  readonly source: EventSource;
  readonly statusCode: string;
  /** As received. */
  readonly payload: string;
}

/**
 * An answer of the gateway as an event.
 * @param attemptId id under which the gateway has the payment: the order's own or a later attempt's
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
