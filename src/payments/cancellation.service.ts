import { Injectable } from '@nestjs/common';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { GatewayUnavailableError } from '../gateway/payment-gateway.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { PaymentEventsService } from './payment-events.service.js';

/** Cancels pending orders, at the gateway first: what it confirms stays true even if the service fails afterwards. */
@Injectable()
export class CancellationService {
  constructor(
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
  ) {}

  /**
   * @returns the cancelled order
   * @throws Failure 404 for another's order; 409 when it is not pending, or paid in the meantime; 502
   */
  async cancel(customer: Principal, orderId: string): Promise<Order> {
    const order = await this.orders.findOwn(customer, orderId);
    if (order.status !== 'pending') throw failures.orderNotPending();
    try {
      const { order: asked } = await this.events.ask(orderId, 'cancel');
      // It changed meanwhile, and the gateway has to be asked again.
      if (asked?.status === 'pending') return await this.cancel(customer, orderId);
      if (asked?.status !== 'cancel') throw failures.orderNotPending();
    } catch (error) {
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
    return this.orders.findOwn(customer, orderId);
  }
}
