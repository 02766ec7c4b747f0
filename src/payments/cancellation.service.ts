import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { GatewayRefusedError, GatewayUnavailableError, PaymentGateway } from '../gateway/payment-gateway.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { eventOf, type PaymentEvent } from './payment-event.js';
import { PaymentEventsService } from './payment-events.service.js';
import { PaymentsRepository } from './payments.repository.js';

/** Cancels pending orders, at the gateway first: what it confirms stays true even if the service fails afterwards. */
@Injectable()
export class CancellationService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
    private readonly payments: PaymentsRepository,
  ) {}

  /**
   * @returns the cancelled order
   * @throws Failure 404 for another's order; 409 when it is not pending, or paid in the meantime; 502
   */
  async cancel(customer: Principal, orderId: string): Promise<Order> {
    const order = await this.orders.findOwn(customer, orderId);
    if (order.status !== 'pending') throw failures.orderNotPending();
    const askedAt = await this.payments.lastAppliedId(orderId);
    const answers = await this.#cancelAtGateway(orderId);
    const status = await this.dataSource.transaction((tx) => this.#record(tx, orderId, answers, askedAt));
    if (status === 'pending') return this.cancel(customer, orderId);
    if (status !== 'cancel') throw failures.orderNotPending();
    return this.orders.findOwn(customer, orderId);
  }

  /**
   * Records what the gateway answered, and ends the order if nothing of it can be paid any more.
   * @param askedAt what had last changed the order when the gateway was asked
   * @returns the order's status; `pending` when it changed meanwhile and the gateway has to be asked again
   */
  async #record(
    tx: EntityManager,
    orderId: string,
    answers: readonly PaymentEvent[],
    askedAt: string | null,
  ): Promise<string | undefined> {
    await this.orders.lock(tx, orderId);
    // A status may be older than what was notified meanwhile. A cancellation is final.
    const isOutdated = (await this.payments.lastAppliedId(orderId, tx)) !== askedAt;
    for (const event of answers)
      if (event.source === 'cancellation' || !isOutdated) await this.events.record(tx, event);
    const order = await this.orders.lock(tx, orderId);
    if (order?.status !== 'pending' || isOutdated) return order?.status;
    await this.events.close(tx, orderId, 'cancel', 'cancellation', 'no payment method was chosen');
    return 'cancel';
  }

  /** What the gateway did with each payment attempt, newest first. @throws Failure 502 */
  async #cancelAtGateway(orderId: string): Promise<PaymentEvent[]> {
    const attemptIds = await this.orders.gatewayIds(orderId);
    try {
      const answers = await Promise.all(attemptIds.map((id) => this.#cancelAttempt(id)));
      return answers.filter((answer) => answer !== null);
    } catch (error) {
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }

  /** @returns null when no payment method was chosen: then there is nothing to cancel at the gateway */
  async #cancelAttempt(attemptId: string): Promise<PaymentEvent | null> {
    try {
      const transaction = await this.gateway.cancel(attemptId);
      if (transaction === null) return null;
      const event = eventOf(transaction, 'cancellation', attemptId);
      if (event.status === 'cancel') return event;
      throw new GatewayUnavailableError(`the gateway answered a cancellation with ${event.status}`);
    } catch (error) {
      if (error instanceof GatewayRefusedError) return this.#statusOf(attemptId);
      throw error;
    }
  }

  /** The gateway refused to cancel: the payment has ended, one way or the other, and its status says how. */
  async #statusOf(attemptId: string): Promise<PaymentEvent | null> {
    const transaction = await this.gateway.status(attemptId);
    if (transaction === null) return null;
    // Another cancellation may have been quicker.
    const source = transaction.transactionStatus === 'cancel' ? 'cancellation' : 'reconciliation';
    const event = eventOf(transaction, source, attemptId);
    if (event.status === 'pending')
      throw new GatewayUnavailableError('the gateway would not cancel a payment that it says is pending');
    return event;
  }
}
