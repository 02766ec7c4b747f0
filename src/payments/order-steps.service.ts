import { Injectable } from '@nestjs/common';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { GatewayUnavailableError, type TransactionStatus } from '../gateway/payment-gateway.js';
import type { Fulfilment } from '../orders/fulfilment.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { PaymentEventsService } from './payment-events.service.js';

/** Steps that can cancel an order's payment. The gateway is called first: if the gateway fails, the order does not change. */
@Injectable()
export class OrderStepsService {
  constructor(
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
  ) {}

  /** @throws Failure 404 for another customer's order; 409 if the order is no longer pending; 502 if the gateway fails */
  async cancel(customer: Principal, orderId: string): Promise<Order> {
    const order = await this.orders.findOwn(customer, orderId);
    if (order.status !== 'pending') throw failures.orderNotPending();
    if ((await this.#endPayment(orderId)) !== 'cancel') throw failures.orderNotPending();
    return this.orders.findOwn(customer, orderId);
  }

  /**
   * Takes an order to its next step. Refusing a pending order cancels its payment. An order that was paid in the meantime
   * is refused too, and a refund is due.
   * @throws Failure 404 for an unknown order; 409 if the order cannot take this step; 502 if the gateway fails
   */
  async advance(orderId: string, next: Fulfilment): Promise<Order> {
    if (next === 'refused') {
      const order = await this.orders.findWithCustomer(orderId);
      if (order.status === 'pending' && order.canBecome(next)) await this.#endPayment(orderId);
    }
    return this.orders.advance(orderId, next);
  }

  /** @returns the new status of the order, which is never `pending`. It differs from `cancel` if another event came first. */
  async #endPayment(orderId: string): Promise<TransactionStatus> {
    try {
      for (;;) {
        const { order } = await this.events.callGatewayAndRecord(orderId, 'cancel');
        // The order is still pending if it changed during the call, for example by a new payment attempt. Call again.
        if (order.status !== 'pending') return order.status;
      }
    } catch (error) {
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }
}
