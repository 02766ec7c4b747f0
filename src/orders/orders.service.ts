import { isDeepStrictEqual } from 'node:util';
import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { DataSource, type EntityManager, IsNull, Not } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { dayRange, type TimeRange } from '../common/calendar.js';
import { failures } from '../common/errors/failures.js';
import { createCounter } from '../common/observability/metrics.js';
import type { Locked } from '../database/locked.js';
import { ShopService } from '../shop/shop.service.js';
import { UsersService } from '../users/users.service.js';
import { OrderAction } from './order-action.entity.js';
import { OrderMailsService } from './order-mails.service.js';
import type { AdminOrdersQuery } from './order-requests.dto.js';
import { type Fulfilment, FULFILMENTS } from './order-status.js';
import { Order, type OrderRow } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

/** Order whose row is locked until the transaction ends. Only `lockOrFail` and `lockOfAttempt` return one. */
export type LockedOrder = Locked<OrderRow>;

const fulfilmentChanges = createCounter(
  'bakery_orders_fulfilment_total',
  'Fulfilment steps by administrators, by the step that the order reached',
  'fulfilment',
  FULFILMENTS,
);

const surplusPayments = new Counter({
  name: 'bakery_payments_surplus_total',
  help: 'Transactions that added surplus to a paid order',
});

@Injectable()
export class OrdersService {
  readonly #logger = new Logger('Orders');

  constructor(
    private readonly users: UsersService,
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly mails: OrderMailsService,
    private readonly shop: ShopService,
  ) {}

  /**
   * @param userId lists only the orders of this customer
   * @throws Failure 404 for an empty page
   */
  async findPage({ pickup, ...filter }: AdminOrdersQuery, userId?: number) {
    const pickupDay = pickup === undefined ? undefined : dayRange(pickup, (await this.shop.get()).time_zone);
    const orders = await this.orders.findPage({ ...filter, userId, pickupDay });
    const last = orders.at(-1);
    if (last === undefined) throw failures.notFound();
    return { orders, lastOrderId: last.orderId };
  }

  findOfDays(days: TimeRange, options?: { readonly isUncollected: boolean }): Promise<Order[]> {
    return this.orders.findOfDays(days, options);
  }

  /** @throws Failure 404 for an unknown order and, unless the user is an administrator, for another customer's order */
  async findFor(authUser: AuthUser, orderId: string): Promise<Order> {
    return this.findOrFail(orderId, (await this.users.isAdmin(authUser)) ? undefined : authUser.id);
  }

  /** @throws Failure 404 for an unknown order and, with `userId`, for another customer's order */
  async findOrFail(orderId: string, userId?: number, tx?: EntityManager): Promise<Order> {
    const order = await this.orders.find(userId === undefined ? { orderId } : { orderId, userId }, tx);
    if (order === null) throw failures.notFound();
    return order;
  }

  /**
   * Locks an order, so that payment events and steps are applied one after another.
   * @throws Failure 404
   */
  async lockOrFail(tx: EntityManager, orderId: string): Promise<LockedOrder> {
    const order: OrderRow | null = await tx.findOne(Order, {
      where: { orderId },
      lock: { mode: 'pessimistic_write' },
    });
    if (order === null) throw failures.notFound();
    return order as LockedOrder;
  }

  /** Locks the order of a payment attempt. Returns null if no order has this attempt. */
  async lockOfAttempt(tx: EntityManager, attemptId: string): Promise<LockedOrder | null> {
    const order: OrderRow | null = await tx
      .createQueryBuilder(Order, 'o')
      .innerJoin(PaymentAttempt, 'attempt', 'attempt.orderId = o.orderId')
      .where('attempt.attemptId = :attemptId', { attemptId })
      // Lock only the row of the order, as every change of the order does.
      .setLock('pessimistic_write', undefined, ['o'])
      .getOne();
    return order as LockedOrder | null;
  }

  /**
   * Stores another step of an order, and mails the customer if the order becomes ready or is refused. Does not cancel the
   * payment of a refused order. If two requests perform the same step concurrently, the second one fails with 409.
   */
  async storeStep({ id: userId }: AuthUser, orderId: string, next: Fulfilment): Promise<Order> {
    await this.dataSource.transaction(async (tx) => {
      const order = await this.lockOrFail(tx, orderId);
      if (!order.canBecome(next)) throw failures.stepNotPossible(next);
      await tx.update(Order, { orderId }, { fulfilment: next });
      await this.recordAction(tx, { orderId, action: next, userId });
      if (next === 'refused') await this.mails.enqueue(tx, orderId, 'order-refused');
      // Not after a step back from collected: the customer knows already.
      if (next === 'ready' && order.fulfilment === 'preparing')
        await this.mails.enqueue(tx, orderId, 'order-ready');
    });
    fulfilmentChanges.inc({ fulfilment: next });
    return this.findOrFail(orderId);
  }

  async recordAction(
    tx: EntityManager,
    action: Pick<OrderAction, 'orderId' | 'action' | 'userId'> & Partial<OrderAction>,
  ): Promise<void> {
    // Not now(), the start of the transaction: actions that wait for the lock of the order would have times in another order.
    await tx.insert(OrderAction, { createdAt: () => 'clock_timestamp()', ...action });
  }

  listActions(tx: EntityManager, orderId: string): Promise<OrderAction[]> {
    return tx.find(OrderAction, { where: { orderId }, relations: { user: true }, order: { id: 'ASC' } });
  }

  /**
   * Updates the payment columns of an order, in the database and in the given object. No other method changes these columns. The
   * first payment enqueues the receipt, or `order-refused` for a refused order.
   * @returns false if the order has these values already
   */
  async applyPayment(tx: EntityManager, order: LockedOrder, columns: Partial<OrderRow>): Promise<boolean> {
    const isSame = Object.entries(columns).every(([key, value]) =>
      isDeepStrictEqual(order[key as keyof OrderRow], value),
    );
    if (isSame) return false;
    const { orderId, surplusAmount: surplusBefore } = order;
    Object.assign(order, columns);
    if (order.surplusAmount > surplusBefore) {
      surplusPayments.inc(); // Before the commit: an event whose commit fails counts again.
      this.#logger.warn(`order ${orderId} was paid twice: ${order.surplusAmount} rupiah have to be returned`);
    }
    const isFirstPayment = order.firstPaidAt === null && order.isPaid;
    if (isFirstPayment) order.firstPaidAt = new Date();
    const mail = order.fulfilment === 'refused' ? 'order-refused' : 'order-receipt';
    // Statements that start together are sent together.
    await Promise.all([
      tx.update(Order, { orderId }, { ...columns, firstPaidAt: order.firstPaidAt }),
      isFirstPayment ? this.mails.enqueue(tx, orderId, mail) : undefined,
    ]);
    return true;
  }

  /** Finds the attempt with the newest payment page. An attempt whose page could not be opened does not count. */
  async findNewestAttemptId(tx: EntityManager, { orderId }: LockedOrder): Promise<string> {
    const where = { orderId, token: Not(IsNull()) };
    const newest = await tx.findOne(PaymentAttempt, { where, order: { number: 'DESC' } });
    return newest?.attemptId ?? orderId;
  }
}
