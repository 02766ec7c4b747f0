import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { isClaimActive } from '../common/claims.js';
import type { Principal } from '../common/current-user.decorator.js';
import { isDatabaseUnavailable } from '../common/database-errors.js';
import { failures } from '../common/errors.js';
import {
  AttemptIdTakenError,
  CALL_DEADLINE_MS,
  GatewayRejectedError,
  GatewayUnavailableError,
  PaymentGateway,
  type PaymentPage,
  type PaymentPageRequest,
} from '../gateway/payment-gateway.js';
import { Order } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

const POLL_MS = 250;
/** Lifetime of a payment page: `PaymentGateway.openPaymentPage` opens pages that are valid for 24 hours. */
const PAGE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Opens payment pages of orders. If several requests, in any process, need a page for the same order, one of them claims the
 * payment attempt and calls the gateway outside of a transaction. The others poll the database for the result.
 */
@Injectable()
export class CheckoutService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly gateway: PaymentGateway,
  ) {}

  /**
   * Opens a payment page unless the order has a live one.
   * @returns the order with a live page, or an order that is no longer pending
   * @throws Failure 502 if the gateway returned no page in time
   */
  async ensurePage(order: Order, customer: Principal): Promise<Order> {
    const deadline = Date.now() + CALL_DEADLINE_MS;
    let current = order;
    const needsPage = () => current.status === 'pending' && current.payableAttempt === null;
    const isClaimed = () => isClaimActive(current.attempts?.at(-1)?.claimedAt);
    if (needsPage() && !isClaimed()) {
      const attempt = await this.#claimAttempt(order.orderId);
      if (attempt !== null) await this.requestPage(order, customer, attempt, deadline);
      current = await this.orders.get(order.orderId);
    }
    while (needsPage() && isClaimed() && Date.now() < deadline) {
      await delay(POLL_MS);
      current = await this.orders.get(order.orderId);
    }
    // Another request claimed the attempt and got no page in time.
    if (needsPage()) throw failures.gatewayUnavailable();
    return current;
  }

  /**
   * Requests the page of a claimed attempt, and stores the page.
   * @param replaced attempt whose id the gateway already knew. `attempt` is its replacement and is not replaced again.
   * @returns null if the order is no longer pending or another request has the claim
   * @throws Failure 502 if the gateway returned no page in time
   */
  async requestPage(
    order: Order,
    customer: Principal,
    attempt: PaymentAttempt,
    deadline: number = Date.now() + CALL_DEADLINE_MS,
    replaced?: PaymentAttempt,
  ): Promise<PaymentAttempt | null> {
    try {
      const request = buildRequest(order, customer, attempt.attemptId);
      const page = await this.gateway.openPaymentPage(request, deadline - Date.now());
      return await this.#storePage(attempt, page);
    } catch (error) {
      if (replaced === undefined && error instanceof AttemptIdTakenError) {
        // The gateway knows the id from a call whose response was lost.
        const fresh = await this.#claimAttempt(order.orderId, attempt);
        return fresh === null ? null : this.requestPage(order, customer, fresh, deadline, attempt);
      }
      // Releasing the claim would fail too, after a second timeout. The claim expires by itself.
      if (isDatabaseUnavailable(error)) throw error;
      await this.#buildClaimEnd(attempt).execute();
      if (!(error instanceof GatewayRejectedError || error instanceof GatewayUnavailableError)) throw error;
      const message = `no payment page for order ${order.orderId}: ${error.message}`;
      throw failures.gatewayUnavailable(new Error(message, { cause: error }));
    }
  }

  /**
   * Claims the latest attempt, or a new attempt if the latest page has expired or the gateway knew the id already.
   * @param replaced claimed attempt whose id the gateway knew
   * @returns null if the order is no longer pending, or another request has a page or a claim
   */
  #claimAttempt(orderId: string, replaced?: PaymentAttempt): Promise<PaymentAttempt | null> {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      if (order?.status !== 'pending') return null;
      const latest = await tx.findOne(PaymentAttempt, { where: { orderId }, order: { number: 'DESC' } });
      const isIdTaken = replaced !== undefined && latest?.claimId === replaced.claimId;
      if (!isIdTaken && (latest?.hasLivePage === true || isClaimActive(latest?.claimedAt))) return null;
      // The gateway has most likely never received the id of an attempt without a page, so the id can be used again.
      const isReusable = !isIdTaken && latest?.token === null;
      const attempt = isReusable ? latest : PaymentAttempt.create(orderId, (latest?.number ?? 0) + 1);
      await tx.upsert(PaymentAttempt, attempt.claim(), ['attemptId']);
      await tx.update(Order, { orderId }, { attemptId: attempt.attemptId });
      return attempt;
    });
  }

  async #storePage(attempt: PaymentAttempt, page: PaymentPage): Promise<PaymentAttempt | null> {
    const change = { ...page, expiresAt: new Date(Date.now() + PAGE_LIFETIME_MS) };
    const { affected } = await this.#buildClaimEnd(attempt, change)
      .andWhere("(SELECT status FROM orders WHERE orders.order_id = payment_attempts.order_id) = 'pending'")
      .execute();
    return affected === 1 ? Object.assign(attempt, change) : null;
  }

  /** Builds the update that ends a claim. The update changes nothing if another request has claimed the attempt. */
  #buildClaimEnd({ attemptId, claimId }: PaymentAttempt, change: Partial<PaymentAttempt> = {}) {
    return this.dataSource
      .createQueryBuilder()
      .update(PaymentAttempt)
      .set({ ...change, claimId: null, claimedAt: null })
      .where({ attemptId, claimId });
  }
}

function buildRequest(order: Order, { fullname, email }: Principal, attemptId: string): PaymentPageRequest {
  const items = order.items.map(({ productId, name, price, quantity }) => {
    return { id: String(productId), name, price, quantity };
  });
  return { attemptId, grossAmount: order.grossAmount, items, customer: { fullname, email } };
}
