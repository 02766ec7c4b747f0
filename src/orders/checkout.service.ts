import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull, Raw } from 'typeorm';
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
import { needsPage, type Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

/** Time from the opening of a payment page to the first check of the order at the gateway. */
const FIRST_CHECK_MS = 5 * 60_000;

/** Two holders: an attempt whose id the gateway already knows is replaced by another one. */
const lease = new Lease(PaymentAttempt, CALL_DEADLINE_MS, 2);

/** Payment attempt without a page, whose lease this request holds. Its page will end at `expiresAt`. */
type LeasedAttempt = Pick<PaymentAttempt, 'attemptId' | 'orderId' | 'number'> & {
  readonly leaseId: string;
  readonly expiresAt: Date;
};

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

  /** Inserts an attempt of a new or locked order, and takes its lease. The first attempt has the number 1. */
  async insertAttempt(
    tx: EntityManager,
    orderId: string,
    number: number,
    expiresAt: Date,
  ): Promise<LeasedAttempt> {
    const attempt = { attemptId: number === 1 ? orderId : randomUUID(), orderId, number };
    const started = lease.start();
    await tx.insert(PaymentAttempt, { ...attempt, ...started });
    return { ...attempt, leaseId: started.leaseId, expiresAt };
  }

  /**
   * Returns the live payment page of an open order. Opens a page if there is none, or if the last payment failed.
   * @throws Failure 404 for another customer's order, 409 if the order is not open, 502 if the gateway returned no page in time
   */
  async getPage(customer: Customer, orderId: string): Promise<PaymentPage> {
    const order = await this.ensurePage(await this.orders.findOrFail(orderId, customer.id));
    if (!order.isOpen || order.livePage === null) throw failures.orderNotPending();
    return order.livePage;
  }

  /**
   * Opens a payment page if the order is open and needs one.
   * @param leased first attempt of a new order, whose lease this request has
   * @returns the order with a live page, or the order as it is if it is not open
   * @throws Failure 502 if the gateway returned no page in time
   */
  async ensurePage(order: Order, leased?: LeasedAttempt): Promise<Order> {
    if (!order.needsPage) return order;
    const { orderId } = order;
    const attempt = leased ?? (await this.#takeLease(orderId));
    if (attempt !== null && (await this.#openPage(order, attempt))) return order;
    // Another request had or took the lease.
    const stored = await lease.waitForResult(this.dataSource.manager, { orderId }, async () => {
      const current = await this.orders.findOrFail(orderId);
      return current.needsPage ? null : current;
    });
    if (stored === null) throw failures.gatewayUnavailable();
    return stored;
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
      const attempts = await tx.find(PaymentAttempt, { where: { orderId }, order: { number: 'ASC' } });
      const newest = attempts.at(-1);
      if (newest === undefined) throw new Error(`order ${orderId} has no payment attempt`);
      if (!needsPage(order, attempts)) return null;
      const expiresAt = order.computeEndOfPage(shop);
      if (newest.token !== null || usedUp !== undefined)
        return this.insertAttempt(tx, orderId, newest.number + 1, expiresAt);
      // The gateway has most likely never received the id of an attempt without a page, so the id can be used again. Require that
      // there is still no page: a first page is stored without locking the order.
      const leaseId = await lease.take(tx, { attemptId: newest.attemptId, token: IsNull() });
      return leaseId === null ? null : Object.assign(newest, { leaseId, expiresAt });
    });
  }

  /**
   * Requests the page of an attempt from the gateway, and stores the page.
   * @param canReplace false for an attempt that already replaces one whose id the gateway knew
   * @returns false if the order is no longer open or another request has taken the lease
   * @throws Failure 502 if the gateway returned no page in time
   */
  async #openPage(order: Order, attempt: LeasedAttempt, canReplace = true): Promise<boolean> {
    try {
      const page = await this.gateway.openPaymentPage(toPageRequest(order, attempt));
      return await this.#storePage(order, attempt, page);
    } catch (error) {
      if (canReplace && error instanceof AttemptIdTakenError) {
        // The gateway knows the id from a call whose response was lost.
        const replacement = await this.#takeLease(order.orderId, attempt);
        return replacement !== null && this.#openPage(order, replacement, false);
      }
      const { attemptId, leaseId } = attempt;
      await lease.endAfterError(this.dataSource.manager, { attemptId }, leaseId, error);
      if (!(error instanceof GatewayRejectedError || error instanceof GatewayUnavailableError)) throw error;
      const message = `no payment page for order ${order.orderId}: ${error.message}`;
      throw failures.gatewayUnavailable(new Error(message, { cause: error }));
    }
  }

  /**
   * Stores the page of an attempt, also in `order`, and ends the lease. A page of a further attempt makes the order pending again.
   * The first page does not, because its attempt may already have a transaction. The checks of the order begin again, because a
   * new page can end earlier than the former one.
   * @returns false if the order is no longer open or another request has taken the lease
   */
  async #storePage(order: Order, attempt: LeasedAttempt, page: PaymentPage): Promise<boolean> {
    const { orderId, attemptId, leaseId, expiresAt } = attempt;
    const columns = {
      ...(attempt.number === 1 ? {} : NO_TRANSACTION),
      attemptId,
      payUntil: expiresAt,
      checks: 0,
      nextCheckAt: new Date(Date.now() + FIRST_CHECK_MS),
    };
    const storeAndEndLease = (manager: EntityManager) =>
      lease.end(manager, { attemptId, orderId: OF_OPEN_ORDER }, leaseId, { ...page, expiresAt });
    // The order already has this `payUntil`, so only the attempt changes. One statement suffices, and every new order takes this
    // path: with a transaction, the service places a sixth fewer orders in a second.
    const isOrderUnchanged = attempt.number === 1 && order.payUntil?.getTime() === expiresAt.getTime();
    const isStored = isOrderUnchanged
      ? await storeAndEndLease(this.dataSource.manager)
      : await this.dataSource.transaction(async (tx) => {
          const locked = await this.orders.lockOrFail(tx, orderId);
          if (!(await storeAndEndLease(tx))) return false;
          await this.orders.applyPayment(tx, locked, columns);
          return true;
        });
    if (isStored)
      Object.assign(order, columns, { attempts: [...order.attempts, { attemptId, ...page, expiresAt }] });
    return isStored;
  }
}

function toPageRequest(order: Order, { attemptId, expiresAt }: LeasedAttempt) {
  const { fullname, email } = order.customer;
  const items = order.items.map(({ productId, name, price, quantity }) => {
    return { id: String(productId), name, price, quantity };
  });
  return { attemptId, grossAmount: order.grossAmount, items, customer: { fullname, email }, expiresAt };
}
