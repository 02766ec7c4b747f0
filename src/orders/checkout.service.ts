import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, Raw } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { Lease } from '../database/lease.js';
import {
  AttemptIdTakenError,
  CALL_DEADLINE_MS,
  GatewayRejectedError,
  GatewayUnavailableError,
  PaymentGateway,
  type PaymentPage,
  type PaymentPageRequest,
} from '../gateway/payment-gateway.js';
import { type Shop, ShopService } from '../shop/shop.service.js';
import { lockOrder } from './locks.js';
import { Order, PAY_TIME_MS } from './order.entity.js';
import { isOpenSql } from './order-status.js';
import { OrdersRepository } from './orders.repository.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

const MINUTE_MS = 60_000;
/** A customer who opens a page shortly before the lead time of the pickup still has this time to pay. */
const MIN_PAGE_MS = 15 * MINUTE_MS;

const lease = new Lease(PaymentAttempt, CALL_DEADLINE_MS);

/** Payment attempt whose lease this request holds. Its page, which is not open yet, will end at `expiresAt`. */
export type LeasedAttempt = PaymentAttempt & { readonly leaseId: string; readonly expiresAt: Date };

/** Condition on `orderId` of an attempt. PostgreSQL plans it in a third of the time of a semi-join. */
const OF_OPEN_ORDER = Raw(
  () => `(SELECT ${isOpenSql('o')} FROM orders AS o WHERE o.order_id = payment_attempts.order_id)`,
);

/**
 * Opens payment pages of orders. If several requests, in any process, need a page for the same order, one of them takes the
 * lease of the payment attempt and calls the gateway outside of a transaction. The others poll the database for the result.
 */
@Injectable()
export class CheckoutService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly gateway: PaymentGateway,
    private readonly shop: ShopService,
  ) {}

  async insertFirstAttempt(tx: EntityManager, orderId: string, expiresAt: Date): Promise<LeasedAttempt> {
    const attempt = PaymentAttempt.create(orderId, 1);
    const started = lease.start();
    const { attemptId, number } = attempt;
    await tx.insert(PaymentAttempt, { attemptId, orderId, number, ...started });
    return Object.assign(attempt, { leaseId: started.leaseId, expiresAt });
  }

  /**
   * Opens a payment page if the order is open and needs one.
   * @returns the order with a live page, or an order that has ended
   * @throws Failure 502 if the gateway returned no page in time
   */
  async ensurePage(order: Order, customer: AuthUser): Promise<Order> {
    const deadline = Date.now() + CALL_DEADLINE_MS;
    if (!order.needsPage) return order;
    const attempt = await this.#leaseAttempt(order.orderId);
    if (attempt !== null) await this.requestPage(order, customer, attempt, deadline);
    const { orderId } = order;
    const current = await lease.waitForResult(this.dataSource.manager, { orderId }, deadline, async () => {
      const stored = await this.orders.find({ orderId, userId: customer.id });
      return stored?.needsPage === false ? stored : null;
    });
    // Another request held the lease and got no page in time.
    if (current === null) throw failures.gatewayUnavailable();
    return current;
  }

  /**
   * Requests the page of an attempt whose lease this request holds, and stores the page.
   * @param replaced attempt whose id the gateway already knew. `attempt` is its replacement and is not replaced again.
   * @returns null if the order has ended or another request has taken the lease
   * @throws Failure 502 if the gateway returned no page in time
   */
  async requestPage(
    order: Order,
    customer: AuthUser,
    attempt: LeasedAttempt,
    deadline: number = Date.now() + CALL_DEADLINE_MS,
    replaced?: LeasedAttempt,
  ): Promise<PaymentAttempt | null> {
    try {
      const request = buildRequest(order, customer, attempt);
      const page = await this.gateway.openPaymentPage(request, deadline - Date.now());
      return await this.#storePage(order, attempt, page);
    } catch (error) {
      if (replaced === undefined && error instanceof AttemptIdTakenError) {
        // The gateway knows the id from a call whose response was lost.
        const fresh = await this.#leaseAttempt(order.orderId, attempt);
        return fresh === null ? null : this.requestPage(order, customer, fresh, deadline, attempt);
      }
      await lease.endAfter(error, this.dataSource.manager, { attemptId: attempt.attemptId }, attempt.leaseId);
      if (!(error instanceof GatewayRejectedError || error instanceof GatewayUnavailableError)) throw error;
      const message = `no payment page for order ${order.orderId}: ${error.message}`;
      throw failures.gatewayUnavailable(new Error(message, { cause: error }));
    }
  }

  /**
   * Takes the lease of the newest attempt, or of a new attempt if the newest page cannot be used or its id is taken.
   * @param replaced attempt whose lease this request holds and whose id the gateway knew
   * @returns null if the order needs no page, or another request holds the lease
   */
  async #leaseAttempt(orderId: string, replaced?: LeasedAttempt): Promise<LeasedAttempt | null> {
    const shop = await this.shop.get();
    return this.dataSource.transaction(async (tx) => {
      const order = await lockOrder(tx, orderId);
      if (order?.isOpen !== true) return null;
      // Locked, because a first page is stored without locking the order.
      const newest = await tx.findOne(PaymentAttempt, {
        where: { orderId },
        order: { number: 'DESC' },
        lock: { mode: 'pessimistic_write' },
      });
      if (newest !== null && newest.leaseId !== replaced?.leaseId) {
        const isUsable = newest.hasLivePage && !order.hasFailedPayment;
        if (isUsable || (await lease.isHeld(tx, { attemptId: newest.attemptId }))) return null;
      }
      // The gateway has most likely never received the id of an attempt without a page, so the id can be used again.
      const attempt =
        newest?.token === null && replaced === undefined
          ? newest
          : PaymentAttempt.create(orderId, (newest?.number ?? 0) + 1);
      if (replaced !== undefined) await lease.end(tx, { attemptId: replaced.attemptId }, replaced.leaseId);
      const started = lease.start();
      const { attemptId, number } = attempt;
      await tx.upsert(PaymentAttempt, { attemptId, orderId, number, ...started }, ['attemptId']);
      return Object.assign(attempt, { leaseId: started.leaseId, expiresAt: findEndOfPage(order, shop) });
    });
  }

  /**
   * Stores a page, on which the order can be paid from now on. The order is pending again if its last payment failed.
   * @returns null if the order has ended or another request has taken the lease
   */
  async #storePage(
    { payUntil }: Order,
    attempt: LeasedAttempt,
    page: PaymentPage,
  ): Promise<PaymentAttempt | null> {
    const { orderId, attemptId, leaseId, expiresAt } = attempt;
    const endLease = (manager: EntityManager) =>
      lease.end(manager, { attemptId, orderId: OF_OPEN_ORDER }, leaseId, { ...page, expiresAt });
    // The row of a new order already says until when it can be paid. This is the usual case, so it has no transaction.
    if (attempt.number === 1 && payUntil?.getTime() === expiresAt.getTime())
      return (await endLease(this.dataSource.manager)) ? Object.assign(attempt, page) : null;
    return this.dataSource.transaction(async (tx) => {
      const order = await lockOrder(tx, orderId);
      if (!(await endLease(tx))) return null;
      // The payment of an order whose newest page has no transaction (see `chooseTransaction` in payments).
      const payment = order?.transactionId == null ? {} : PENDING;
      await tx.update(Order, { orderId }, { ...payment, attemptId, payUntil: expiresAt });
      return Object.assign(attempt, page);
    });
  }
}

/** Returns the end of a payment page that opens now: before the lead time of the pickup, at most a day after the order. */
export function findEndOfPage(
  { createdAt, pickupAt }: Pick<Order, 'createdAt' | 'pickupAt'>,
  { lead_minutes }: Pick<Shop, 'lead_minutes'>,
): Date {
  const endOfPayTime = createdAt.getTime() + PAY_TIME_MS;
  if (pickupAt === null) return new Date(endOfPayTime);
  const end = Math.max(pickupAt.getTime() - lead_minutes * MINUTE_MS, Date.now() + MIN_PAGE_MS);
  return new Date(Math.min(end, endOfPayTime));
}

const PENDING = {
  status: 'pending',
  transactionId: null,
  transactionAmount: null,
  paymentType: null,
  fraudStatus: null,
  completedAt: null,
} as const;

function buildRequest(
  order: Order,
  { fullname, email }: AuthUser,
  { attemptId, expiresAt }: LeasedAttempt,
): PaymentPageRequest {
  const items = order.items.map(({ productId, name, price, quantity }) => {
    return { id: String(productId), name, price, quantity };
  });
  return { attemptId, grossAmount: order.grossAmount, items, customer: { fullname, email }, expiresAt };
}
