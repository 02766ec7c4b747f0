import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { TimeRange } from '../common/calendar.js';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { orderSteps } from '../common/metrics.js';
import { pipelined } from '../common/pipelined.js';
import { ShopService } from '../shop/shop.service.js';
import { CheckoutService } from './checkout.service.js';
import type { Fulfilment } from './fulfilment.js';
import { OrderMailsService } from './order-mails.service.js';
import { isCompleted } from './order-status.js';
import { Order } from './order.entity.js';
import type { AdminOrdersQuery } from './orders-query.dto.js';
import { OrdersRepository } from './orders.repository.js';
import type { PaymentAttempt } from './payment-attempt.entity.js';

export type { Order };

/** Columns of an order that `applyPayment` sets from a payment event. */
type OrderPayment = Pick<
  Order,
  | 'status'
  | 'attemptId'
  | 'transactionId'
  | 'paymentType'
  | 'fraudStatus'
  | 'transactionAmount'
  | 'refundedAmount'
>;

@Injectable()
export class OrdersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly checkout: CheckoutService,
    private readonly mails: OrderMailsService,
    private readonly shop: ShopService,
  ) {}

  /** Returns a page of the orders of one customer (`userId`) or of all customers. @throws Failure 404 for an empty page */
  async page(query: AdminOrdersQuery, userId?: number): Promise<Order[]> {
    const pickup = query.pickup === undefined ? undefined : await this.shop.dayRange(query.pickup);
    const page = await this.orders.page(query, userId, pickup);
    if (page.length === 0) throw failures.notFound();
    return page;
  }

  /** Returns a day's orders (by pickup time, if any, otherwise by time of payment) that are paid and not refused. */
  findOfDay(day: TimeRange): Promise<Order[]> {
    return this.orders.findOfDay(day);
  }

  /** @throws Failure 404 for an unknown order and, unless the caller is an administrator, for another customer's order */
  findFor(caller: Principal, orderId: string): Promise<Order> {
    return caller.role === 'ADMIN' ? this.findWithCustomer(orderId) : this.findOwn(caller, orderId);
  }

  /** Returns any order, for administrators. @throws Failure 404 */
  async findWithCustomer(orderId: string): Promise<Order> {
    const order = await this.orders.findWithCustomer(orderId);
    if (order === null) throw failures.notFound();
    return order;
  }

  /** @throws Failure 404 unless the caller owns the order */
  async findOwn(customer: Principal, orderId: string): Promise<Order> {
    const order = await this.orders.find({ orderId, userId: customer.id });
    if (order === null) throw failures.notFound();
    return order;
  }

  /**
   * Takes an order to its next step, and mails the customer if the order is ready or refused. If two requests perform the
   * same step concurrently, the second one fails with 409.
   * @throws Failure 404; 409 if the order cannot take this step
   */
  async advance(orderId: string, next: Fulfilment): Promise<Order> {
    const order = await this.findWithCustomer(orderId);
    await this.dataSource.transaction(async (tx) => {
      // A concurrent step or payment may have changed the order.
      Object.assign(order, await this.orders.lock(tx, orderId));
      if (!order.canBecome(next)) throw failures.fulfilmentStep(next);
      await tx.update(Order, { orderId }, { fulfilment: next });
      if (next === 'ready' || next === 'refused') await this.mails.enqueue(tx, orderId, `order-${next}`);
    });
    orderSteps.inc({ fulfilment: next });
    return Object.assign(order, { fulfilment: next });
  }

  /** @throws Failure 404 unless the caller owns the order, 409 if it is not pending, 502 if the gateway is unavailable */
  async openPaymentPage(customer: Principal, orderId: string): Promise<PaymentAttempt> {
    const order = await this.checkout.ensurePage(await this.findOwn(customer, orderId), customer);
    if (order.payableAttempt === null) throw failures.orderNotPending();
    return order.payableAttempt;
  }

  /** Returns the ids of all attempts, newest first; the order's own id if the order is older than the table of attempts. */
  async listAttemptIds(orderId: string): Promise<string[]> {
    const { attempts = [] } = await this.orders.get(orderId);
    return attempts.length === 0 ? [orderId] : attempts.map(({ attemptId }) => attemptId).reverse();
  }

  /** Locks an order until the transaction ends. @param id id of the order or of one of its payment attempts */
  lock(tx: EntityManager, id: string): Promise<Order | null> {
    return this.orders.lock(tx, id);
  }

  async lockOrFail(tx: EntityManager, id: string): Promise<Order> {
    const order = await this.lock(tx, id);
    if (order === null) throw failures.notFound();
    return order;
  }

  /** Updates a locked order after a payment event. The first payment enqueues the receipt, or `order-refused` for a refused order. */
  async applyPayment(tx: EntityManager, order: Order, payment: OrderPayment): Promise<void> {
    const now = new Date();
    // A captured payment that is settled keeps its time of completion.
    const completedBefore = order.transactionId === payment.transactionId ? order.completedAt : null;
    const change = { ...payment, completedAt: isCompleted(payment.status) ? (completedBefore ?? now) : null };
    const isFirstPaid = Object.assign(order, change).isPaid && order.firstPaidAt === null;
    if (isFirstPaid) order.firstPaidAt = now;
    const mail = order.fulfilment === 'refused' ? 'order-refused' : 'order-receipt';
    await pipelined(
      tx.update(Order, { orderId: order.orderId }, { ...change, firstPaidAt: order.firstPaidAt }),
      ...(isFirstPaid ? [this.mails.enqueue(tx, order.orderId, mail)] : []),
    );
  }

  /** Ends a locked order whose current attempt has no transaction at the gateway. */
  async close(tx: EntityManager, order: Order, status: 'cancel' | 'expire'): Promise<void> {
    order.status = status;
    await tx.update(Order, { orderId: order.orderId }, { status });
  }
}
