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
