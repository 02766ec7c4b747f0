import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, Raw } from 'typeorm';
import { Lease } from '../database/lease.js';
import { CALL_DEADLINE_MS, type PaymentPage } from '../gateway/payment-gateway.js';
import { ShopService } from '../shop/shop.service.js';
import { lockOrderOrFail } from './locks.js';
import { computeEndOfPage, isOpenSql } from './order-status.js';
import type { Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

const lease = new Lease(PaymentAttempt, CALL_DEADLINE_MS);

/** Payment attempt without a page, whose lease this request holds. Its page will end at `expiresAt`. */
export type LeasedAttempt = PaymentAttempt & { readonly leaseId: string; readonly expiresAt: Date };

/** Condition on `orderId` of an attempt. PostgreSQL plans it in a third of the time of a semi-join. */
const OF_OPEN_ORDER = Raw(
  () => `(SELECT ${isOpenSql('o')} FROM orders AS o WHERE o.order_id = payment_attempts.order_id)`,
);

/** Payment columns of an order whose newest page has no transaction (see `computeOrderColumns` in payments). */
export const NO_TRANSACTION = {
  status: 'pending',
  transactionId: null,
  transactionAmount: null,
  paymentType: null,
  fraudStatus: null,
  completedAt: null,
} as const;

/** Stores payment attempts and their pages. Only the request that holds the lease of an attempt calls the gateway for its page. */
@Injectable()
export class PaymentAttemptsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersService,
    private readonly shop: ShopService,
  ) {}

  /** Inserts the first attempt of a new order, and takes its lease. */
  insertFirst(tx: EntityManager, orderId: string, expiresAt: Date): Promise<LeasedAttempt> {
    return storeLeased(tx, PaymentAttempt.create(orderId, 1), expiresAt);
  }

  /**
   * Takes the lease of the newest attempt, or of a new attempt if the newest one has a page that cannot be used.
   * @returns null if the order needs no page, or another request holds the lease
   */
  async lease(orderId: string): Promise<LeasedAttempt | null> {
    const shop = await this.shop.get();
    return this.dataSource.transaction(async (tx) => {
      const order = await lockOrderOrFail(tx, orderId);
      if (!order.isOpen) return null;
      // Locked, because a first page is stored without locking the order.
      const newest = await tx.findOneOrFail(PaymentAttempt, {
        where: { orderId },
        order: { number: 'DESC' },
        lock: { mode: 'pessimistic_write' },
      });
      const expiresAt = computeEndOfPage(order, shop);
      const hasUsablePage = newest.livePage !== null && !order.isRetryable;
      if (hasUsablePage || (await lease.isHeld(tx, { attemptId: newest.attemptId }))) return null;
      // The gateway has most likely never received the id of an attempt without a page, so the id can be used again.
      const attempt = newest.token === null ? newest : PaymentAttempt.create(orderId, newest.number + 1);
      return storeLeased(tx, attempt, expiresAt);
    });
  }

  /**
   * Replaces an attempt by a new one, which takes over the lease.
   * @returns null if the order has ended or another request has taken the lease
   */
  async replace({ orderId, attemptId, number, leaseId }: LeasedAttempt): Promise<LeasedAttempt | null> {
    const shop = await this.shop.get();
    return this.dataSource.transaction(async (tx) => {
      const order = await lockOrderOrFail(tx, orderId);
      const wasHeld = await lease.end(tx, { attemptId }, leaseId);
      if (!wasHeld || !order.isOpen) return null;
      return storeLeased(tx, PaymentAttempt.create(orderId, number + 1), computeEndOfPage(order, shop));
    });
  }

  /**
   * Stores the page of an attempt and ends the lease. The order can be paid on the page from now on, so it is pending again if
   * its last payment failed.
   * @returns null if the order has ended or another request has taken the lease
   */
  async storePage(order: Order, attempt: LeasedAttempt, page: PaymentPage): Promise<LeasedAttempt | null> {
    const { orderId, attemptId, leaseId, expiresAt } = attempt;
    const endLease = (manager: EntityManager) =>
      lease.end(manager, { attemptId, orderId: OF_OPEN_ORDER }, leaseId, { ...page, expiresAt });
    // The row of a new order already says until when it can be paid. This is the usual case, so it has no transaction.
    if (attempt.number === 1 && order.payUntil?.getTime() === expiresAt.getTime())
      return (await endLease(this.dataSource.manager)) ? Object.assign(attempt, page) : null;
    return this.dataSource.transaction(async (tx) => {
      const locked = await lockOrderOrFail(tx, orderId);
      if (!(await endLease(tx))) return null;
      await this.orders.applyPayment(tx, locked, { ...NO_TRANSACTION, attemptId, payUntil: expiresAt });
      return Object.assign(attempt, page);
    });
  }

  async endLeaseAfter(error: unknown, { attemptId, leaseId }: LeasedAttempt): Promise<void> {
    await lease.endAfter(error, this.dataSource.manager, { attemptId }, leaseId);
  }

  /** Polls until the order needs no page, no request holds a lease, or the deadline has passed. Returns null if it needs a page. */
  waitForPage({ orderId, userId }: Order, deadline: number): Promise<Order | null> {
    return lease.waitForResult(this.dataSource.manager, { orderId }, deadline, async () => {
      const order = await this.orders.findOrFail(orderId, userId);
      return order.needsPage ? null : order;
    });
  }
}

async function storeLeased(
  tx: EntityManager,
  attempt: PaymentAttempt,
  expiresAt: Date,
): Promise<LeasedAttempt> {
  const { attemptId, orderId, number } = attempt;
  const started = lease.start();
  await tx.upsert(PaymentAttempt, { attemptId, orderId, number, ...started }, ['attemptId']);
  return Object.assign(attempt, { leaseId: started.leaseId, expiresAt });
}
