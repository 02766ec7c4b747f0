import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { ReconciliationOutcome } from '../common/metrics.js';
import { GatewayUnavailableError, PaymentGateway } from '../gateway/payment-gateway.js';
import { ORDER_STATUSES } from '../orders/order-status.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import type { Outcome, PaymentEvent } from './payment-event.js';
import { outcomeOf } from './payment-outcome.js';
import { PaymentsRepository } from './payments.repository.js';

/** What is asked of the gateway: how a payment stands, or to end it. */
type Question = 'status' | 'cancel' | 'expire';

/** Why an order is ended for which the gateway has no transaction. */
const REASONS = { cancel: 'no payment method was chosen', expire: 'not paid within 25 hours' };

/** The one way in which an order's payment changes: notifications, answers of the gateway and cancellations. */
@Injectable()
export class PaymentEventsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly payments: PaymentsRepository,
  ) {}

  /**
   * Keeps an event and applies it, unless it is a duplicate or late. The order is locked until the transaction ends.
   * An answer that we asked for and that says nothing new is not kept.
   * @returns null when there is no such order
   */
  async record(tx: EntityManager, event: PaymentEvent): Promise<Outcome | null> {
    const order = await this.orders.lock(tx, event.attemptId);
    if (order === null) return null;
    const { orderId } = order;
    // Nothing was heard of any payment yet, so the attempt that counts has no history.
    const isFirst = order.transactionId === null && event.attemptId === order.currentAttemptId;
    const history = isFirst ? [] : await this.payments.historyOf(tx, orderId, event.transactionId);
    const outcome = outcomeOf(event, order, history);
    if (outcome !== 'applied' && event.source !== 'notification') return outcome;
    await Promise.all([
      this.payments.keep(tx, { ...event, orderId, outcome, transactionStatus: event.status }),
      outcome === 'applied' ? this.orders.applyPayment(tx, order, event) : undefined,
    ]);
    return outcome;
  }

  /**
   * Asks the gateway about each of an order's payment attempts, and ends the order if that was asked for and nothing of it
   * can be paid any more. If the order changed meanwhile, the answers may be older than the news: then only a cancellation
   * is recorded, which is final.
   *
   * @returns the order as it is now, and `outdated` if it changed meanwhile
   * @throws GatewayUnavailableError
   */
  async ask(
    orderId: string,
    question: Question,
  ): Promise<{ order: Order | null; outcome: ReconciliationOutcome }> {
    const askedAfter = await this.payments.lastAppliedId(orderId);
    const attemptIds = await this.orders.gatewayIds(orderId);
    const answers = await Promise.all(attemptIds.map((id) => this.#askAbout(id, question)));
    const events = answers.filter((answer) => answer !== null);

    return this.dataSource.transaction(async (tx) => {
      await this.orders.lock(tx, orderId);
      const isOutdated = (await this.payments.lastAppliedId(orderId, tx)) !== askedAfter;
      let outcome: ReconciliationOutcome = 'unchanged';
      for (const event of events) {
        if (isOutdated && event.source !== 'cancellation') continue;
        if ((await this.record(tx, event)) === 'applied') outcome = 'found';
      }
      const order = await this.orders.lock(tx, orderId);
      if (isOutdated) return { order, outcome: 'outdated' };
      if (question !== 'status' && order?.status === 'pending') {
        const source = question === 'cancel' ? 'cancellation' : 'reconciliation';
        const payload = JSON.stringify({ reason: REASONS[question] });
        const line = { orderId, source, outcome: 'applied', transactionStatus: question, payload } as const;
        await this.payments.keep(tx, line);
        await this.orders.close(tx, orderId, question);
        order.status = question;
      }
      // That it expired is our own doing and no news.
      const isExpired = question === 'expire' && events.every(({ status }) => status === 'expire');
      return { order, outcome: isExpired ? 'expired' : outcome };
    });
  }

  /** @returns null when no payment method was chosen */
  async #askAbout(attemptId: string, question: Question): Promise<PaymentEvent | null> {
    const transaction = await (question === 'status'
      ? this.gateway.status(attemptId)
      : this.gateway.end(attemptId, question));
    if (transaction === null) return null;
    const { transactionStatus, ...rest } = transaction;
    const status = ORDER_STATUSES.find((known) => known === transactionStatus);
    if (status === undefined)
      throw new GatewayUnavailableError('the gateway answered an unknown transaction status');
    if (question !== 'status' && status === 'pending')
      throw new GatewayUnavailableError(
        `the gateway would not ${question} a payment that it says is pending`,
      );
    const isCancelled = question === 'cancel' && status === 'cancel';
    return { ...rest, status, source: isCancelled ? 'cancellation' : 'reconciliation', attemptId };
  }
}
