import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import {
  CALL_DEADLINE_MS,
  GatewayRefusedError,
  GatewayUnavailableError,
  PaymentGateway,
} from '../gateway/payment-gateway.js';
import { type Order, PaymentAttempt } from './order.entity.js';
import { type AttemptClaim, OrdersRepository, type SavedPage } from './orders.repository.js';

/** A customer is promised an answer within 6 seconds. */
const BUDGET_MS = CALL_DEADLINE_MS;
/** With less time left, no call to the gateway begins. */
const SHORTEST_CALL_MS = 500;
const POLL_MS = 250;

/**
 * Gets orders their payment page. Of any number of requests at once, in any number of processes, one claims the
 * payment attempt and asks the gateway, with no transaction open. The others look for its result in the database.
 */
@Injectable()
export class CheckoutService {
  readonly #logger = new Logger('Checkout');

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
    const deadline = Date.now() + BUDGET_MS;
    let current = order;
    for (let hasWaited = false; Date.now() < deadline; hasWaited = true) {
      if (current.status !== 'pending' || current.payable !== null) return current;
      if (current.attempts.at(-1)?.isClaimed !== true) {
        // The request that this one waited for got no page: its failure is the answer to both.
        if (hasWaited) throw failures.gatewayUnavailable();
        const claim = await this.#claim(order.orderId);
        if (claim !== null) {
          await this.ask(order, customer, claim, deadline);
          return this.orders.get(order.orderId);
        }
      }
      await delay(POLL_MS);
      current = await this.orders.get(order.orderId);
    }
    throw failures.gatewayUnavailable();
  }

  /**
   * Asks the gateway for the page of an attempt that the caller has claimed, so that no other request asks.
   * @returns the page, which is kept; null when the order is no longer pending
   * @throws Failure 502 when the gateway gave none in time
   */
  async ask(
    order: Order,
    customer: Principal,
    claim: AttemptClaim,
    deadline: number = Date.now() + BUDGET_MS,
  ): Promise<SavedPage | null> {
    let current = claim;
    try {
      try {
        return await this.#create(order, customer, current, deadline);
      } catch (error) {
        if (!isOrderIdTaken(error) || deadline - Date.now() < SHORTEST_CALL_MS) throw error;
        // The gateway has this id already, and its answer with the page was lost: a fresh id is needed.
        const fresh = await this.#replace(order.orderId, current.attemptId);
        if (fresh === null) return null;
        current = fresh;
        return await this.#create(order, customer, current, deadline);
      }
    } catch (error) {
      await this.orders.releaseAttempt(current);
      throw this.#reported(error, order.orderId);
    }
  }

  /**
   * Claims the latest attempt, or a new one when its page is over.
   * @returns null when there is nothing to claim any more: the order changed, or another request was quicker
   */
  #claim(orderId: string): Promise<AttemptClaim | null> {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      if (order?.status !== 'pending') return null;
      const latest = await this.orders.latestAttempt(tx, orderId);
      if (latest?.isAlive === true || latest?.isClaimed === true) return null;
      // An attempt without a page is made again under its id: most likely the gateway never heard of it.
      if (latest?.token === null) return this.orders.claimAttempt(tx, latest.attemptId);
      return this.orders.insertAttempt(tx, PaymentAttempt.claimed(orderId, (latest?.number ?? 0) + 1));
    });
  }

  /** @returns null when the order is no longer pending */
  async #create(
    order: Order,
    customer: Principal,
    claim: AttemptClaim,
    deadline: number,
  ): Promise<SavedPage | null> {
    const page = await this.gateway.createTransaction(
      {
        orderId: claim.attemptId,
        grossAmount: Number(order.grossAmount),
        items: order.items.map(({ productId, name, price, quantity }) => ({
          id: String(productId),
          name,
          price: Number(price),
          quantity,
        })),
        customer: { fullname: customer.fullname, email: customer.email },
      },
      Math.min(CALL_DEADLINE_MS, deadline - Date.now()),
    );
    const saved = await this.orders.savePage(claim, page);
    if (saved === null && (await this.orders.get(order.orderId)).status === 'pending') throw takenOver();
    return saved;
  }

  /** @returns a fresh attempt, claimed; null when the order is no longer pending */
  #replace(orderId: string, attemptId: string): Promise<AttemptClaim | null> {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      if (order?.status !== 'pending') return null;
      const latest = await this.orders.latestAttempt(tx, orderId);
      if (latest?.attemptId !== attemptId) throw takenOver();
      return this.orders.insertAttempt(tx, PaymentAttempt.claimed(orderId, latest.number + 1));
    });
  }

  /** An outage passes by itself. A refusal does not: an operator has to look at the settings or the account. */
  #reported(error: unknown, orderId: string): unknown {
    if (error instanceof GatewayRefusedError && !error.isOrderIdTaken) {
      this.#logger.error(`the gateway refuses to take payments, order ${orderId}: ${error.message}`);
      return failures.gatewayUnavailable(error);
    }
    if (error instanceof GatewayRefusedError || error instanceof GatewayUnavailableError) {
      this.#logger.warn(`no payment page for order ${orderId}: ${error.message}`);
      return failures.gatewayUnavailable(error);
    }
    return error;
  }
}

function takenOver(): Error {
  return new GatewayUnavailableError('another request took the payment attempt over');
}

function isOrderIdTaken(error: unknown): boolean {
  return error instanceof GatewayRefusedError && error.isOrderIdTaken;
}
