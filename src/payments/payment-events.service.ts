import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, MoreThan } from 'typeorm';
import type { ReconciliationOutcome } from '../common/metrics.js';
import { pipelined } from '../common/pipelined.js';
import { GatewayUnavailableError, PaymentGateway, TRANSACTION_STATUSES } from '../gateway/payment-gateway.js';
import { isCompleted } from '../orders/order-status.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { decideOutcome, type PaymentEvent } from './payment-event.js';
import { StoredPaymentEvent } from './stored-payment-event.entity.js';
import { parseAmount } from './plausibility.js';
import { Refund } from './refund.entity.js';

const PAGE_SIZE = 50;

type Operation = 'status' | 'cancel' | 'expire';

/** Reasons for the end of an order whose current attempt has no transaction at the gateway. The history shows them. */
const REASONS = { cancel: 'no payment method was chosen', expire: 'not paid within 25 hours' };

/** Payment history of orders. An order's payment changes only when a payment event is recorded here. */
@Injectable()
export class PaymentEventsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
  ) {}

  /** Returns a page of an order's events, oldest first. @param lastId last event of the previous page; 0 for the first page */
  page(orderId: string, lastId: number): Promise<StoredPaymentEvent[]> {
    return this.dataSource.manager.find(StoredPaymentEvent, {
      where: { orderId, id: MoreThan(String(lastId)) },
      order: { id: 'ASC' },
      take: PAGE_SIZE,
    });
  }

  /** Sums up the refunds of a transaction that were made outside of the gateway. */
  async sumManualRefunds(tx: EntityManager, orderId: string, transactionId: string): Promise<number> {
    const where = { orderId, transactionId, isManual: true, state: 'succeeded' } as const;
    return (await tx.sum(Refund, 'amount', where)) ?? 0;
  }

  /** Decides on an event of a locked order, and stores and applies the event accordingly. @returns the outcome */
  async record(tx: EntityManager, order: Order, event: PaymentEvent) {
    const { orderId } = order;
    const { transactionId, status } = event;
    // Before the first event of the current attempt is applied, no event with this transaction id is stored.
    const isFirst = order.transactionId === null && event.attemptId === order.currentAttemptId;
    const history = isFirst ? [] : await tx.findBy(StoredPaymentEvent, { orderId, transactionId });
    const outcome = decideOutcome(event, order, history);
    const stored = { ...event, orderId, outcome, transactionStatus: status };
    if (outcome === 'applied') {
      const { attemptId, paymentType, fraudStatus, grossAmount: transactionAmount } = event;
      const payment = { transactionId, status, attemptId, paymentType, fraudStatus, transactionAmount };
      const change = { ...payment, refundedAmount: await this.#sumRefunds(tx, order, event) };
      await pipelined(tx.insert(StoredPaymentEvent, stored), this.orders.applyPayment(tx, order, change));
    } else if (event.source === 'notification' || event.source === 'refund') {
      // A status response or cancellation that changes nothing is not stored.
      await tx.insert(StoredPaymentEvent, stored);
    }
    return outcome;
  }

  /**
   * Calls the gateway for each attempt of an order, and records the responses. `cancel` and `expire` also end the order,
   * unless an attempt was paid or can still be paid. If the order changed during the calls, the responses may be older than
   * that change. Then only cancellations are recorded, because they are final.
   * @returns the order as it is now, with the outcome `outdated` if the order changed during the calls
   * @throws GatewayUnavailableError
   */
  async callGatewayAndRecord(
    orderId: string,
    operation: Operation,
  ): Promise<{ order: Order; outcome: ReconciliationOutcome }> {
    const lastAppliedId = await this.#findLastAppliedId(this.dataSource.manager, orderId);
    const attemptIds = await this.orders.listAttemptIds(orderId);
    const responses = await Promise.all(attemptIds.map((id) => this.#callForAttempt(id, operation)));
    const events = responses.filter((response) => response !== null);

    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const hasNewAttempt = !attemptIds.includes(order.currentAttemptId);
      const isOutdated = hasNewAttempt || (await this.#findLastAppliedId(tx, orderId)) !== lastAppliedId;
      let outcome: ReconciliationOutcome = 'unchanged';
      for (const event of events) {
        if (isOutdated && event.source !== 'cancellation') continue;
        if (isCompleted(event.status) && parseAmount(event.grossAmount) !== order.grossAmount)
          throw new GatewayUnavailableError(`the gateway reports a wrong amount for order ${orderId}`);
        if ((await this.record(tx, order, event)) === 'applied') outcome = 'found';
      }
      if (isOutdated) return { order, outcome: 'outdated' };
      if (operation !== 'status' && order.status === 'pending') await this.#endOrder(tx, order, operation);
      // The service itself ended these payments, so the outcome is not `found`.
      const isExpired = operation === 'expire' && events.every(({ status }) => status === 'expire');
      return { order, outcome: isExpired ? 'expired' : outcome };
    });
  }

  /** Returns the id of the last event that changed the order; null if no event has changed it. */
  async #findLastAppliedId(tx: EntityManager, orderId: string): Promise<string | null> {
    const where = { orderId, outcome: 'applied' } as const;
    const last = await tx.findOne(StoredPaymentEvent, { select: { id: true }, where, order: { id: 'DESC' } });
    return last?.id ?? null;
  }

  /** Returns the gateway's response as an event; null until the customer chooses a payment method. */
  async #callForAttempt(attemptId: string, operation: Operation): Promise<PaymentEvent | null> {
    const transaction = await (operation === 'status'
      ? this.gateway.getTransaction(attemptId)
      : this.gateway.cancelOrExpire(attemptId, operation));
    if (transaction === null) return null;
    const { transactionStatus, ...rest } = transaction;
    const status = TRANSACTION_STATUSES.find((known) => known === transactionStatus);
    if (status === undefined)
      throw new GatewayUnavailableError('the gateway responded with an unknown transaction status');
    if (operation !== 'status' && status === 'pending')
      throw new GatewayUnavailableError(`the gateway did not ${operation} a pending payment`);
    const isCancelled = operation === 'cancel' && status === 'cancel';
    const source = isCancelled ? 'cancellation' : 'reconciliation';
    return { ...rest, refundAmount: parseAmount(rest.refundAmount), status, source, attemptId };
  }

  /** Ends a locked order whose current attempt has no transaction at the gateway. */
  async #endOrder(tx: EntityManager, order: Order, status: 'cancel' | 'expire'): Promise<void> {
    await tx.insert(StoredPaymentEvent, {
      orderId: order.orderId,
      source: status === 'cancel' ? 'cancellation' : 'reconciliation',
      outcome: 'applied',
      transactionStatus: status,
      payload: JSON.stringify({ reason: REASONS[status] }),
    });
    await this.orders.close(tx, order, status);
  }

  /** Returns the sum of an order's refunds after an event. The gateway's sum excludes manual refunds, so they are added. */
  async #sumRefunds(tx: EntityManager, order: Order, event: PaymentEvent): Promise<number> {
    const { orderId, grossAmount, refundedAmount } = order;
    if (event.status === 'refund') return grossAmount;
    if (event.status === 'partial_refund' && event.refundAmount !== null) {
      const manualSum = await this.sumManualRefunds(tx, orderId, event.transactionId);
      // The sum of refunds only grows. An event with a smaller sum is older than the event that set `refundedAmount`.
      return Math.min(Math.max(manualSum + event.refundAmount, refundedAmount), grossAmount);
    }
    // If another payment of the order has arrived, nothing of it has been returned yet.
    const isOtherPayment = isCompleted(event.status) && event.transactionId !== order.transactionId;
    return isOtherPayment ? 0 : refundedAmount;
  }
}
