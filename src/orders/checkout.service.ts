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
import {
  type AttemptClaim,
  type LatestAttempt,
  PaymentAttemptsRepository,
} from './payment-attempts.repository.js';

/** Within this the gateway is waited for, whatever it does; a customer is promised an answer within 6 seconds. */
const BUDGET_MS = CALL_DEADLINE_MS;
/** Below it a call to the gateway is not worth beginning. */
const SHORTEST_CALL_MS = 500;
const PAGE_LIFETIME_S = 24 * 60 * 60;
const POLL_MS = 100;

/** What a request may do about an order's payment page. */
type Turn =
  | { readonly kind: 'page'; readonly page: PaymentPage }
  /** Another process is asking the gateway. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'ask'; readonly claim: AttemptClaim }
  /** The order is no longer pending. */
  | { readonly kind: 'over' };

/**
 * Gets orders their payment page: of any number of requests at once, in any number of processes, one asks the
 * gateway, with no transaction open, and the others wait for its answer.
 */
@Injectable()
export class CheckoutService {
  readonly #logger = new Logger('Checkout');
  /** By order id: requests to this process wait here, so that only one of them need look into the database. */
  readonly #openings = new Map<string, Promise<PaymentPage | null>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly attempts: PaymentAttemptsRepository,
    private readonly gateway: PaymentGateway,
  ) {}

  /**
   * The live payment page of a pending order, or a new one.
   * @returns null when the order is no longer pending
   * @throws Failure 502 when the gateway gave none in time
   */
  open(order: OrderRow, customer: Principal): Promise<PaymentPage | null> {
    return this.#openings.get(order.order_id) ?? this.#begin(order, this.#open(order, customer));
  }

  /** The same for an order that was inserted with a claimed attempt, so that nobody else is asking for it. */
  openNew(order: OrderRow, customer: Principal, claim: AttemptClaim): Promise<PaymentPage | null> {
    return this.#begin(order, this.#ask(order, customer, claim, Date.now() + BUDGET_MS));
  }

  #begin({ order_id: orderId }: OrderRow, work: Promise<PaymentPage | null>): Promise<PaymentPage | null> {
    const opening = work.finally(() => this.#openings.delete(orderId));
    this.#openings.set(orderId, opening);
    return opening;
  }

  async #open(order: OrderRow, customer: Principal): Promise<PaymentPage | null> {
    const deadline = Date.now() + BUDGET_MS;
    let hasWaited = false;
    while (Date.now() < deadline) {
      const turn = await this.#turn(order.order_id, hasWaited);
      if (turn.kind === 'page') return turn.page;
      if (turn.kind === 'over') return null;
      if (turn.kind === 'ask') return this.#ask(order, customer, turn.claim, deadline);
      hasWaited = true;
      await delay(POLL_MS);
    }
    throw failures.gatewayUnavailable();
  }

  /** @param hasWaited for another process: if that one failed, its failure is the answer to this one too */
  #turn(orderId: string, hasWaited: boolean): Promise<Turn> {
    return this.dataSource.transaction(async (tx): Promise<Turn> => {
      const order = await this.orders.lock(tx, orderId);
      if (order?.status !== 'pending') return { kind: 'over' };
      const latest = await this.attempts.latest(tx, orderId);
      if (latest?.page != null && latest.isAlive) return { kind: 'page', page: latest.page };
      if (latest?.isClaimed === true) return { kind: 'wait' };
      if (hasWaited) throw failures.gatewayUnavailable();
      return { kind: 'ask', claim: await this.#claim(tx, orderId, latest) };
    });
  }

  /** An attempt without a page is made again under its id: most likely the gateway never heard of it. */
  async #claim(tx: EntityManager, orderId: string, latest: LatestAttempt | null): Promise<AttemptClaim> {
    if (latest !== null && latest.page === null) return this.attempts.claim(tx, latest.attemptId);
    const attemptId = latest === null ? orderId : randomUUID();
    return this.attempts.insertClaimed(tx, { attemptId, orderId, number: (latest?.number ?? 0) + 1 });
  }

  async #ask(
    order: OrderRow,
    customer: Principal,
    claim: AttemptClaim,
    deadline: number,
  ): Promise<PaymentPage | null> {
    let current = claim;
    try {
      try {
        return await this.#create(order, customer, current, deadline);
      } catch (error) {
        if (!isOrderIdTaken(error) || deadline - Date.now() < SHORTEST_CALL_MS) throw error;
        // The gateway has this id already, and its answer with the page was lost: nobody can pay there any more.
        const fresh = await this.#replace(order.order_id, current.attemptId);
        if (fresh === null) return null;
        current = fresh;
        return await this.#create(order, customer, current, deadline);
      }
    } catch (error) {
      await this.attempts.release(current);
      throw this.#reported(error, order.order_id);
    }
  }

  /** @returns null when the order is no longer pending: then nobody is to pay on the page that there is now */
  async #create(
    order: OrderRow,
    customer: Principal,
    claim: AttemptClaim,
    deadline: number,
  ): Promise<PaymentPage | null> {
    const page = await this.gateway.createTransaction(
      {
        orderId: claim.attemptId,
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
    const isPending = await this.attempts.savePage(claim, page, PAGE_LIFETIME_S);
    if (isPending === null) throw new GatewayUnavailableError('another request took over');
    return isPending ? page : null;
  }

  /** @returns a fresh attempt, claimed; null when the order is no longer pending */
  async #replace(orderId: string, attemptId: string): Promise<AttemptClaim | null> {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      if (order?.status !== 'pending') return null;
      const latest = await this.attempts.latest(tx, orderId);
      // Somebody took the claim over, so it is theirs to go on.
      if (latest?.attemptId !== attemptId) throw new GatewayUnavailableError('another request took over');
      return this.attempts.insertClaimed(tx, {
        attemptId: randomUUID(),
        orderId,
        number: latest.number + 1,
      });
    });
  }

  /** A refusal will not pass by itself, as an outage does: somebody has to look at the settings or the account. */
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

function isOrderIdTaken(error: unknown): boolean {
  return error instanceof GatewayRefusedError && error.isOrderIdTaken;
}
