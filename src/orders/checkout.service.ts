import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import {
  CALL_DEADLINE_MS,
  GatewayRefusedError,
  GatewayUnavailableError,
  PaymentGateway,
  type PaymentPage,
} from '../gateway/payment-gateway.js';
import { type OrderRow, OrdersRepository } from './orders.repository.js';
import { type LatestAttempt, PaymentAttemptsRepository } from './payment-attempts.repository.js';

/** Within this a customer has an answer, whatever the gateway does. */
const BUDGET_MS = CALL_DEADLINE_MS + 500;
/** Below it a call to the gateway is not worth beginning. */
const SHORTEST_CALL_MS = 500;
const PAGE_LIFETIME_S = 24 * 60 * 60;
const POLL_MS = 100;

/** What a request may do about an order's payment page. */
type Turn =
  | { readonly kind: 'page'; readonly page: PaymentPage }
  /** Another request is asking the gateway. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'ask'; readonly attemptId: string };

/**
 * Gets orders their payment page: of any number of requests at once one asks the gateway, with no transaction open,
 * and the others wait for its answer.
 */
@Injectable()
export class CheckoutService {
  readonly #logger = new Logger('Checkout');

  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly attempts: PaymentAttemptsRepository,
    private readonly gateway: PaymentGateway,
  ) {}

  /**
   * The live payment page of a pending order, or a new one.
   * @throws Failure 409 when the order is no longer pending; 502 when the gateway gave none in time
   */
  async open(order: OrderRow, customer: Principal): Promise<PaymentPage> {
    const deadline = Date.now() + BUDGET_MS;
    let hasWaited = false;
    while (Date.now() < deadline) {
      const turn = await this.#turn(order.order_id, hasWaited);
      if (turn.kind === 'page') return turn.page;
      if (turn.kind === 'ask') return this.#ask(order, customer, turn.attemptId, deadline);
      hasWaited = true;
      await delay(POLL_MS);
    }
    throw failures.gatewayUnavailable();
  }

  /** @param hasWaited for another request: if that one failed, its failure is the answer to this one too */
  #turn(orderId: string, hasWaited: boolean): Promise<Turn> {
    return this.dataSource.transaction(async (tx): Promise<Turn> => {
      const order = await this.orders.lock(tx, orderId);
      if (order?.status !== 'pending') throw failures.orderNotPending();
      const latest = await this.attempts.latest(tx, orderId);
      if (latest?.page != null && latest.isAlive) return { kind: 'page', page: latest.page };
      if (latest?.isClaimed === true) return { kind: 'wait' };
      if (hasWaited) throw failures.gatewayUnavailable();
      return { kind: 'ask', attemptId: await this.#claim(tx, orderId, latest) };
    });
  }

  /** An attempt without a page is made again under its id: most likely the gateway never heard of it. */
  async #claim(tx: EntityManager, orderId: string, latest: LatestAttempt | null): Promise<string> {
    if (latest !== null && latest.page === null) {
      await this.attempts.claim(tx, latest.attemptId);
      return latest.attemptId;
    }
    const attemptId = latest === null ? orderId : randomUUID();
    await this.attempts.insertClaimed(tx, { attemptId, orderId, number: (latest?.number ?? 0) + 1 });
    return attemptId;
  }

  async #ask(
    order: OrderRow,
    customer: Principal,
    attemptId: string,
    deadline: number,
  ): Promise<PaymentPage> {
    let claimedId = attemptId;
    try {
      try {
        return await this.#create(order, customer, claimedId, deadline);
      } catch (error) {
        if (!(error instanceof GatewayRefusedError) || deadline - Date.now() < SHORTEST_CALL_MS) throw error;
        // The gateway has this id already, and its answer with the page was lost: nobody can pay there any more.
        claimedId = await this.#replace(order.order_id, claimedId);
        return await this.#create(order, customer, claimedId, deadline);
      }
    } catch (error) {
      await this.attempts.release(claimedId);
      if (!(error instanceof GatewayRefusedError) && !(error instanceof GatewayUnavailableError)) throw error;
      this.#logger.warn(`no payment page for order ${order.order_id}: ${error.message}`);
      throw failures.gatewayUnavailable(error);
    }
  }

  async #create(
    order: OrderRow,
    customer: Principal,
    attemptId: string,
    deadline: number,
  ): Promise<PaymentPage> {
    const page = await this.gateway.createTransaction(
      {
        orderId: attemptId,
        grossAmount: Number(order.gross_amount),
        items: order.items.map(({ product_id, name, price, quantity }) => ({
          id: String(product_id),
          name,
          price,
          quantity,
        })),
        customer: { fullname: customer.fullname, email: customer.email },
      },
      Math.min(CALL_DEADLINE_MS, deadline - Date.now()),
    );
    await this.attempts.savePage(attemptId, page, PAGE_LIFETIME_S);
    return page;
  }

  async #replace(orderId: string, attemptId: string): Promise<string> {
    return this.dataSource.transaction(async (tx) => {
      await this.orders.lock(tx, orderId);
      const latest = await this.attempts.latest(tx, orderId);
      // Somebody took the claim over, so it is theirs to go on.
      if (latest?.attemptId !== attemptId) throw new GatewayUnavailableError('another request took over');
      const next = randomUUID();
      await this.attempts.insertClaimed(tx, { attemptId: next, orderId, number: latest.number + 1 });
      return next;
    });
  }
}
