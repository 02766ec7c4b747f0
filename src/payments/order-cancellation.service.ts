import { Injectable } from '@nestjs/common';
import type { AuthUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { GatewayUnavailableError } from '../gateway/payment-gateway.js';
import type { Order } from '../orders/order.entity.js';
import { OrdersService } from '../orders/orders.service.js';
import { PaymentSyncService } from './payment-sync.service.js';

/** Tries of one cancellation. A payment page or a payment that arrives during a try makes another try necessary. */
const MAX_TRIES = 5;

/** Cancels orders for customers, and refuses orders for administrators. */
@Injectable()
export class OrderCancellationService {
  constructor(
    private readonly orders: OrdersService,
    private readonly paymentSync: PaymentSyncService,
  ) {}

  async cancel(customer: AuthUser, orderId: string): Promise<Order> {
    const order = await this.orders.findOrFail(orderId, customer.id);
    if (!order.isOpen || !(await this.#cancelPayment(orderId, customer.id))) throw failures.orderNotPending();
    return this.orders.findOrFail(orderId, customer.id);
  }

  /**
   * Refuses an order. First cancels a pending or authorized payment at the gateway. An order that is paid in the meantime is refused
   * too, and a refund is due then.
   * @throws Failure 409 if the order cannot be refused, 502 if the gateway is unavailable
   */
  async refuse(admin: AuthUser, orderId: string): Promise<Order> {
    const order = await this.orders.findOrFail(orderId);
    // A captured payment in review stays: the gateway decides about it.
    const isCancellable = order.status === 'pending' || order.status === 'authorize';
    if (isCancellable && order.canBecome('refused')) await this.#cancelPayment(orderId);
    return this.orders.storeStep(admin, orderId, 'refused');
  }

  /**
   * @param userId customer who cancels the order
   * @returns false if the order was paid, or has ended, in the meantime
   */
  async #cancelPayment(orderId: string, userId?: number): Promise<boolean> {
    try {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        // Call again if the order changed during the call, for example by a new payment attempt, but not if it was paid or cancelled.
        const { order, outcome } = await this.paymentSync.sync(orderId, 'cancel', userId);
        const isCancelled = order.status === 'cancel';
        if (outcome !== 'outdated' || order.isPaid || isCancelled) return isCancelled;
      }
      throw failures.gatewayUnavailable();
    } catch (error) {
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }
}
