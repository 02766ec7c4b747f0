import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { isDatabaseUnavailable } from '../common/database-errors.js';
import { failures } from '../common/errors.js';
import {
  CALL_DEADLINE_MS,
  GatewayRejectedError,
  GatewayUnavailableError,
  PaymentGateway,
  type TransactionRequest,
} from '../gateway/payment-gateway.js';
import { type Order, PaymentAttempt } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';

const POLL_MS = 250;

/**
 * Opens payment pages of orders. If several requests, in any process, need the page of the same order, one claims the payment
 * attempt and calls the gateway outside of a transaction. The others poll the database for the result.
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
   * @returns the current order: with a live page, or no longer pending
   * @throws Failure 502 if the gateway returned no page in time
   */
  async open(order: Order, customer: Principal): Promise<Order> {
    const deadline = Date.now() + CALL_DEADLINE_MS;
    let current = order;
    for (let hasWaited = false; Date.now() < deadline; hasWaited = true) {
      if (current.status !== 'pending' || current.payable !== null) return current;
      if (current.attempts.at(-1)?.isClaimed === true) {
        await delay(POLL_MS);
      } else {
        // The request with the claim failed, so this one fails in the same way.
        if (hasWaited) throw failures.gatewayUnavailable();
        const attempt = await this.#claim(order.orderId);
        if (attempt !== null) await this.ask(order, customer, attempt, deadline);
      }
      current = await this.orders.get(order.orderId);
    }
    throw failures.gatewayUnavailable();
  }

  /**
   * Requests the page of an attempt that the caller has claimed, and stores the page.
   * @param mayReplace true to retry with a new attempt if the gateway already knows the id
   * @returns the attempt with its page; null if the order is no longer pending or another request has the claim
   * @throws Failure 502 if the gateway returned no page in time
   */
  async ask(
    order: Order,
    customer: Principal,
    attempt: PaymentAttempt,
    deadline: number = Date.now() + CALL_DEADLINE_MS,
    mayReplace = true,
  ): Promise<PaymentAttempt | null> {
    try {
      const request = buildRequest(order, customer, attempt.attemptId);
      const page = await this.gateway.createTransaction(request, deadline - Date.now());
      return await this.orders.savePage(attempt, page);
    } catch (error) {
      if (mayReplace && error instanceof GatewayRejectedError && error.isOrderIdTaken) {
        // The gateway knows the id from a call whose response was lost.
        const fresh = await this.#claim(order.orderId, attempt);
        return fresh === null ? null : this.ask(order, customer, fresh, deadline, false);
      }
      // Without the database the claim expires by itself, and the response must not wait for a second timeout.
      if (isDatabaseUnavailable(error)) throw error;
      await this.orders.releaseAttempt(attempt);
      if (!(error instanceof GatewayRejectedError || error instanceof GatewayUnavailableError)) throw error;
      const cause = new Error(`no payment page for order ${order.orderId}: ${error.message}`, {
        cause: error,
      });
      throw failures.gatewayUnavailable(cause);
    }
  }

  /**
   * Claims the latest attempt, or a new one if its page has expired or its id is used up.
   * @param used attempt of the caller whose id the gateway rejected
   * @returns null if the order is no longer pending, or another request has a page or a claim
   */
  #claim(orderId: string, used?: PaymentAttempt): Promise<PaymentAttempt | null> {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      if (order?.status !== 'pending') return null;
      const latest = await this.orders.latestAttempt(tx, orderId);
      const isUsed = used !== undefined && latest?.claimId === used.claimId;
      if (!isUsed && (latest?.isAlive === true || latest?.isClaimed === true)) return null;
      // The gateway has most likely never received an attempt without a page, so its id can be used again.
      const isReusable = !isUsed && latest?.token === null;
      const attempt = isReusable ? latest : PaymentAttempt.of(orderId, (latest?.number ?? 0) + 1);
      await this.orders.saveAttempt(tx, attempt.claim());
      return attempt;
    });
  }
}

function buildRequest(order: Order, { fullname, email }: Principal, attemptId: string): TransactionRequest {
  return {
    orderId: attemptId,
    grossAmount: Number(order.grossAmount),
    items: order.items.map(({ productId, name, price, quantity }) => ({
      id: String(productId),
      name,
      price: Number(price),
      quantity,
    })),
    customer: { fullname, email },
  };
}
