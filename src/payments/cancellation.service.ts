import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { GatewayRefusedError, GatewayUnavailableError, PaymentGateway } from '../gateway/payment-gateway.js';
import { type OrderRow, OrdersService } from '../orders/orders.service.js';
import { eventOf, type PaymentEvent } from './payment-event.js';
import { PaymentEventsService } from './payment-events.service.js';
import { ReconciliationService } from './reconciliation.service.js';

/** Cancels pending orders, at the gateway first: what it confirms is true whatever happens here. */
@Injectable()
export class CancellationService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  /**
   * @returns the cancelled order
   * @throws Failure 404 for another's order; 409 when it is not pending, or paid in the meantime; 502
   */
  async cancel(customer: Principal, orderId: string): Promise<OrderRow> {
    const order = await this.orders.findOwn(customer, orderId);
    if (order.status !== 'pending') throw failures.orderNotPending();
    const cancelled = await this.#cancelAtGateway(orderId);
    const status = await this.dataSource.transaction(async (tx) => {
      for (const event of cancelled) await this.events.record(tx, orderId, event);
      const locked = await this.orders.lock(tx, orderId);
      if (locked?.status !== 'pending') return locked?.status;
      await this.events.close(tx, orderId, 'cancel', 'cancellation', 'no payment method was chosen');
      return 'cancel';
    });
    if (status !== 'cancel') throw failures.orderNotPending();
    return this.orders.findOwn(customer, orderId);
  }

  async #cancelAtGateway(orderId: string): Promise<PaymentEvent[]> {
    const ids = await this.orders.gatewayIds(orderId);
    try {
      const events = await Promise.all(ids.map((id) => this.#cancelAttempt(id)));
      return events.filter((event) => event !== null);
    } catch (error) {
      if (error instanceof GatewayRefusedError) {
        // Paid, most likely, and the news is still on its way.
        await this.reconciliation.checkSoon(this.dataSource.manager, orderId);
        throw failures.orderNotPending();
      }
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }

  async #cancelAttempt(attemptId: string): Promise<PaymentEvent | null> {
    const transaction = await this.gateway.cancel(attemptId);
    if (transaction === null) return null;
    const event = eventOf(transaction, 'cancellation', attemptId);
    if (event.status !== 'cancel')
      throw new GatewayUnavailableError(`the gateway answered a cancellation with ${event.status}`);
    return event;
  }
}
