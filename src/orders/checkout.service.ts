import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import {
  CALL_DEADLINE_MS,
  GatewayRefusedError,
  GatewayUnavailableError,
  PaymentGateway,
  type TransactionRequest,
} from '../gateway/payment-gateway.js';
import { type Order, PaymentAttempt } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';

const POLL_MS = 250;

/**
 * Gets orders their payment page. Of any number of requests at once, in any number of processes, one claims the
 * payment attempt and asks the gateway, with no transaction open. The others look for its result in the database.
 */
@Injectable()
export class CheckoutService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly gateway: PaymentGateway,
  ) {}

  /**
   * Gets an order a payment page, unless it has one.
   * @returns the order as it is now: with a page that can be paid on, or no longer pending
   * @throws Failure 502 when the gateway gave none in time
   */
  async open(order: Order, customer: Principal): Promise<Order> {
    const deadline = Date.now() + CALL_DEADLINE_MS;
    let current = order;
    for (let hasWaited = false; Date.now() < deadline; hasWaited = true) {
      if (current.status !== 'pending' || current.payable !== null) return current;
      if (current.attempts.at(-1)?.isClaimed === true) {
        await delay(POLL_MS);
      } else {
        // The request that this one waited for got no page: its failure is the answer to both.
        if (hasWaited) throw failures.gatewayUnavailable();
        const attempt = await this.#claim(order.orderId);
        if (attempt !== null) await this.ask(order, customer, attempt, deadline);
      }
      current = await this.orders.get(order.orderId);
    }
    throw failures.gatewayUnavailable();
  }

  /**
   * Asks the gateway for the page of an attempt that the caller has claimed, so that no other request asks.
   * @param mayReplace whether an id that the gateway does not take is replaced by a fresh one
   * @returns the attempt with its page, which is kept; null when the order is no longer pending or another request has
   *   the claim
   * @throws Failure 502 when the gateway gave none in time
   */
  async ask(
    order: Order,
    customer: Principal,
    attempt: PaymentAttempt,
    deadline: number = Date.now() + CALL_DEADLINE_MS,
    mayReplace = true,
  ): Promise<PaymentAttempt | null> {
    try {
      const request = requestOf(order, customer, attempt.attemptId);
      const page = await this.gateway.createTransaction(request, deadline - Date.now());
      return await this.orders.savePage(attempt, page);
    } catch (error) {
      if (mayReplace && error instanceof GatewayRefusedError && error.isOrderIdTaken) {
        // The gateway has this id already, and its answer with the page was lost: a fresh id is needed.
        const fresh = await this.#claim(order.orderId, attempt);
        return fresh === null ? null : this.ask(order, customer, fresh, deadline, false);
      }
      await this.orders.releaseAttempt(attempt);
      if (!(error instanceof GatewayRefusedError || error instanceof GatewayUnavailableError)) throw error;
      const cause = new Error(`no payment page for order ${order.orderId}: ${error.message}`, {
        cause: error,
      });
      throw failures.gatewayUnavailable(cause);
    }
  }

  /**
   * Claims the latest attempt, or a new one when its page is over or its id is used up.
   * @param used the attempt that the caller has claimed, and whose id the gateway does not take
   * @returns null when there is nothing to claim any more: the order changed, or another request was quicker
   */
  #claim(orderId: string, used?: PaymentAttempt): Promise<PaymentAttempt | null> {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      if (order?.status !== 'pending') return null;
      const latest = await this.orders.latestAttempt(tx, orderId);
      const isUsed = used !== undefined && latest?.claimId === used.claimId;
      if (!isUsed && (latest?.isAlive === true || latest?.isClaimed === true)) return null;
      // An attempt without a page is made again under its id: most likely the gateway never heard of it.
      const isGoodAgain = !isUsed && latest?.token === null;
      const attempt = isGoodAgain ? latest : PaymentAttempt.of(orderId, (latest?.number ?? 0) + 1);
      await this.orders.saveAttempt(tx, attempt.claim());
      return attempt;
    });
  }
}

function requestOf(order: Order, { fullname, email }: Principal, attemptId: string): TransactionRequest {
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
