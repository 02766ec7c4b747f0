import { Injectable } from '@nestjs/common';
import type { AuthUser } from '../common/access/auth-user.js';
import { failures } from '../common/errors/failures.js';
import { GatewayUnavailableError } from '../gateway/payment-gateway.js';
import type { Fulfilment } from '../orders/fulfilment.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { PaymentSyncService } from './payment-sync.service.js';

/** The order changes during a call at most once for each new payment page or payment. */
const MAX_TRIES = 5;

/** Steps that can cancel an order's payment. The gateway is called first: if the gateway fails, the order does not change. */
@Injectable()
export class OrderStepsService {
  constructor(
    private readonly orders: OrdersService,
    private readonly paymentSync: PaymentSyncService,
  ) {}

  /** @throws Failure 404 for another customer's order; 409 if the order is not open; 502 if the gateway fails */
  async cancel(customer: AuthUser, orderId: string): Promise<Order> {
    const order = await this.orders.findOwn(customer, orderId);
    if (!order.isOpen || !(await this.#endPayment(orderId, customer.id))) throw failures.orderNotPending();
    return this.orders.findOwn(customer, orderId);
  }

  /**
   * Takes an order to its next step. Refusing an unpaid order cancels its payment. An order that was paid in the meantime is
   * refused too, and a refund is due.
   * @throws Failure 404 for an unknown order; 409 if the order cannot take this step; 502 if the gateway fails
   */
  async advance(admin: AuthUser, orderId: string, next: Fulfilment): Promise<Order> {
    if (next === 'refused') {
      const order = await this.orders.findWithCustomer(orderId);
      if (order.status === 'pending' && order.canBecome(next)) await this.#endPayment(orderId);
    }
    return this.orders.storeStep(admin, orderId, next);
  }

  /**
   * Cancels the payment of an order.
   * @param userId customer who cancels the order
   * @returns false if the order was paid, or has ended, in the meantime
   */
  async #endPayment(orderId: string, userId?: number): Promise<boolean> {
    try {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        // If the order changed during the call, for example by a new payment attempt, call again.
        const { order, outcome } = await this.paymentSync.sync(orderId, 'cancel', userId);
        if (outcome !== 'outdated' || !order.awaitsPayment) return order.status === 'cancel';
      }
      throw failures.gatewayUnavailable();
    } catch (error) {
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }
}
