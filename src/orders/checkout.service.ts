import { Injectable } from '@nestjs/common';
import type { Customer } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import {
  AttemptIdTakenError,
  CALL_DEADLINE_MS,
  GatewayRejectedError,
  GatewayUnavailableError,
  PaymentGateway,
  type PaymentPage,
  type PaymentPageRequest,
} from '../gateway/payment-gateway.js';
import type { Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';
import { type LeasedAttempt, PaymentAttemptsService } from './payment-attempts.service.js';

/**
 * Opens payment pages of orders. If several requests, in any process, need a page for the same order, one of them takes the
 * lease of the payment attempt and calls the gateway outside of a database transaction. The others poll the database for the
 * result.
 */
@Injectable()
export class CheckoutService {
  constructor(
    private readonly orders: OrdersService,
    private readonly attempts: PaymentAttemptsService,
    private readonly gateway: PaymentGateway,
  ) {}

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
   * @returns the order with a live page, or an order that has ended
   * @throws Failure 502 if the gateway returned no page in time
   */
  async ensurePage(order: Order, customer: Customer): Promise<Order> {
    if (!order.needsPage) return order;
    const deadline = Date.now() + CALL_DEADLINE_MS;
    const attempt = await this.attempts.lease(order.orderId);
    if (attempt !== null) await this.#openPage(order, customer, attempt, deadline);
    const current = await this.attempts.waitForPage(order, deadline);
    // Another request held the lease and got no page in time.
    if (current === null) throw failures.gatewayUnavailable();
    return current;
  }

  /** Like `ensurePage`, for a new order whose first attempt this request has leased. */
  async openFirstPage(order: Order, customer: Customer, attempt: LeasedAttempt): Promise<Order> {
    const opened = await this.#openPage(order, customer, attempt, Date.now() + CALL_DEADLINE_MS);
    // The order has ended, or this request's lease expired during the call and another request has taken it.
    if (opened === null) return this.ensurePage(order, customer);
    return Object.assign(order, { attempts: [opened], payUntil: opened.expiresAt });
  }

  /**
   * Requests the page of an attempt from the gateway, and stores the page.
   * @param options.canReplace false for an attempt that already replaces one whose id the gateway knew
   * @returns null if the order has ended or another request has taken the lease
   * @throws Failure 502 if the gateway returned no page in time
   */
  async #openPage(
    order: Order,
    customer: Customer,
    attempt: LeasedAttempt,
    deadline: number,
    { canReplace = true } = {},
  ): Promise<LeasedAttempt | null> {
    try {
      const request = toPageRequest(order, customer, attempt);
      const page = await this.gateway.openPaymentPage(request, deadline - Date.now());
      return await this.attempts.storePage(order, attempt, page);
    } catch (error) {
      if (canReplace && error instanceof AttemptIdTakenError) {
        // The gateway knows the id from a call whose response was lost.
        const replacement = await this.attempts.replace(attempt);
        if (replacement === null) return null;
        return this.#openPage(order, customer, replacement, deadline, { canReplace: false });
      }
      await this.attempts.endLeaseAfter(error, attempt);
      if (!(error instanceof GatewayRejectedError || error instanceof GatewayUnavailableError)) throw error;
      const message = `no payment page for order ${order.orderId}: ${error.message}`;
      throw failures.gatewayUnavailable(new Error(message, { cause: error }));
    }
  }
}

function toPageRequest(
  order: Order,
  { fullname, email }: Customer,
  { attemptId, expiresAt }: LeasedAttempt,
): PaymentPageRequest {
  const items = order.items.map(({ productId, name, price, quantity }) => {
    return { id: String(productId), name, price, quantity };
  });
  return { attemptId, grossAmount: order.grossAmount, items, customer: { fullname, email }, expiresAt };
}
