import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, Raw } from 'typeorm';
import type { Customer } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { Lease } from '../database/lease.js';
import {
  AttemptIdTakenError,
  CALL_DEADLINE_MS,
  GatewayRejectedError,
  GatewayUnavailableError,
  PaymentGateway,
  type PaymentPage,
} from '../gateway/payment-gateway.js';
import { ShopService } from '../shop/shop.service.js';
import { IS_OPEN, NO_TRANSACTION } from './order-status.js';
import type { Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

const lease = new Lease(PaymentAttempt, CALL_DEADLINE_MS);

/** Payment attempt without a page, whose lease this request holds. Its page will end at `expiresAt`. */
export type LeasedAttempt = PaymentAttempt & { readonly leaseId: string; readonly expiresAt: Date };

/**
 * Condition that the order of an attempt is open, as a value of any column: `Raw` ignores the column. PostgreSQL plans this
 * subquery in a third of the time of a semi-join.
 */
const OF_OPEN_ORDER = Raw(
  () => `(SELECT ${IS_OPEN} FROM orders AS o WHERE o.order_id = payment_attempts.order_id)`,
);

/**
 * Opens payment pages of orders. If several requests, in any process, need a page for the same order, one of them takes the
 * lease of the payment attempt and calls the gateway outside of a database transaction. The others poll for the result.
 */
@Injectable()
export class CheckoutService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersService,
    private readonly shop: ShopService,
    private readonly gateway: PaymentGateway,
  ) {}

  /** Inserts the first attempt of a new order, and takes its lease. */
  insertFirst(tx: EntityManager, orderId: string, expiresAt: Date): Promise<LeasedAttempt> {
    return storeLeased(tx, PaymentAttempt.create(orderId, 1), expiresAt);
  }

  /** Like `ensurePage`, for a new order whose first attempt this request has leased. */
  async openFirstPage(order: Order, customer: Customer, attempt: LeasedAttempt): Promise<Order> {
    const opened = await this.#openPage(order, customer, attempt, Date.now() + CALL_DEADLINE_MS);
    // The order is no longer open, or this request's lease expired during the call and another request has taken it.
    if (opened === null) return this.ensurePage(order, customer);
    return Object.assign(order, { attempts: [opened], payUntil: opened.expiresAt });
  }

  /**
   * Returns the live payment page of an open order. Opens a page if there is none, or if the last payment failed.
   * @throws Failure 404 for another customer's order, 409 if the order is not open, 502 if the gateway returned no page in time
   */
  async getPage(customer: Customer, orderId: string): Promise<PaymentPage> {
    const order = await this.ensurePage(await this.orders.findOrFail(orderId, customer.id), customer);
    if (!order.isOpen || order.livePage === null) throw failures.orderNotPending();
    return order.livePage;
  }

  /**
   * Opens a payment page if the order is open and needs one.
   * @returns the order with a live page, or the order as it is if it is not open
   * @throws Failure 502 if the gateway returned no page in time
   */
  async ensurePage(order: Order, customer: Customer): Promise<Order> {
    if (!order.needsPage) return order;
    const { orderId, userId } = order;
    const deadline = Date.now() + CALL_DEADLINE_MS;
    const attempt = await this.#takeLease(orderId);
    if (attempt !== null) await this.#openPage(order, customer, attempt, deadline);
    const current = await lease.waitForResult(this.dataSource.manager, { orderId }, deadline, async () => {
      const stored = await this.orders.findOrFail(orderId, userId);
      return stored.needsPage ? null : stored;
    });
    // Another request had the lease, and the order still needs a page.
    if (current === null) throw failures.gatewayUnavailable();
    return current;
  }

  /**
   * Takes the lease of the newest attempt, or of a new attempt if the newest one cannot be used.
   * @param usedUp attempt of this request whose id the gateway already knows. Its lease ends, and a new attempt replaces it
   * @returns null if the order needs no page, another request holds the lease, or the lease of `usedUp` was lost
   */
  async #takeLease(orderId: string, usedUp?: LeasedAttempt): Promise<LeasedAttempt | null> {
    const shop = await this.shop.get();
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      if (usedUp !== undefined && !(await lease.end(tx, { attemptId: usedUp.attemptId }, usedUp.leaseId)))
        return null;
      if (!order.isOpen) return null;
      // Locked, because a first page is stored without locking the order.
      const newest = await tx.findOneOrFail(PaymentAttempt, {
        where: { orderId },
        order: { number: 'DESC' },
        lock: { mode: 'pessimistic_write' },
      });
      const hasUsablePage = newest.livePage !== null && !order.isRetryable;
      if (hasUsablePage || (await lease.isHeld(tx, { attemptId: newest.attemptId }))) return null;
      // The gateway has most likely never received the id of an attempt without a page, so the id can be used again.
      const canReuse = newest.token === null && usedUp === undefined;
      const attempt = canReuse ? newest : PaymentAttempt.create(orderId, newest.number + 1);
      return storeLeased(tx, attempt, order.computeEndOfPage(shop));
    });
  }

  /**
   * Requests the page of an attempt from the gateway, and stores the page.
   * @param options.canReplace false for an attempt that already replaces one whose id the gateway knew
   * @returns null if the order is no longer open or another request has taken the lease
   * @throws Failure 502 if the gateway returned no page in time
   */
  async #openPage(
    order: Order,
    customer: Customer,
    attempt: LeasedAttempt,
    deadline: number,
    { canReplace = true } = {},
  ): Promise<PaymentAttempt | null> {
    try {
      const request = toPageRequest(order, customer, attempt);
      const page = await this.gateway.openPaymentPage(request, deadline - Date.now());
      return await this.#storePage(order, attempt, page);
    } catch (error) {
      if (canReplace && error instanceof AttemptIdTakenError) {
        // The gateway knows the id from a call whose response was lost.
        const replacement = await this.#takeLease(order.orderId, attempt);
        if (replacement === null) return null;
        return this.#openPage(order, customer, replacement, deadline, { canReplace: false });
      }
      await lease.endAfter(error, this.dataSource.manager, { attemptId: attempt.attemptId }, attempt.leaseId);
      if (!(error instanceof GatewayRejectedError || error instanceof GatewayUnavailableError)) throw error;
      const message = `no payment page for order ${order.orderId}: ${error.message}`;
      throw failures.gatewayUnavailable(new Error(message, { cause: error }));
    }
  }

  /**
   * Stores the page of an attempt and ends the lease. The order can be paid on the page from now on, so it is pending again if
   * its last payment failed.
   * @returns null if the order is no longer open or another request has taken the lease
   */
  async #storePage(order: Order, attempt: LeasedAttempt, page: PaymentPage): Promise<PaymentAttempt | null> {
    const { orderId, attemptId, leaseId, expiresAt } = attempt;
    const storeAndEndLease = (manager: EntityManager) =>
      lease.end(manager, { attemptId, orderId: OF_OPEN_ORDER }, leaseId, { ...page, expiresAt });
    // The order already has this `payUntil`, so only the attempt changes. The order also keeps a payment that the gateway has
    // reported before the page. One statement suffices, and every new order takes this path: with a transaction, the service
    // places a sixth fewer orders in a second.
    if (attempt.number === 1 && order.payUntil?.getTime() === expiresAt.getTime())
      return (await storeAndEndLease(this.dataSource.manager)) ? Object.assign(attempt, page) : null;
    return this.dataSource.transaction(async (tx) => {
      const locked = await this.orders.lockOrFail(tx, orderId);
      if (!(await storeAndEndLease(tx))) return null;
      await this.orders.applyPayment(tx, locked, { ...NO_TRANSACTION, attemptId, payUntil: expiresAt });
      return Object.assign(attempt, page);
    });
  }
}

async function storeLeased(tx: EntityManager, attempt: PaymentAttempt, expiresAt: Date) {
  const { attemptId, orderId, number } = attempt;
  const started = lease.start();
  await tx.upsert(PaymentAttempt, { attemptId, orderId, number, ...started }, ['attemptId']);
  return Object.assign(attempt, { leaseId: started.leaseId, expiresAt });
}

function toPageRequest(order: Order, { fullname, email }: Customer, attempt: LeasedAttempt) {
  const { attemptId, expiresAt } = attempt;
  const items = order.items.map(({ productId, name, price, quantity }) => {
    return { id: String(productId), name, price, quantity };
  });
  return { attemptId, grossAmount: order.grossAmount, items, customer: { fullname, email }, expiresAt };
}
