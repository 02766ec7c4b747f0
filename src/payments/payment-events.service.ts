import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { ReconciliationOutcome } from '../common/metrics.js';
import { pipelined } from '../common/pipelined.js';
import { GatewayUnavailableError, PaymentGateway } from '../gateway/payment-gateway.js';
import { isCompleted, ORDER_STATUSES } from '../orders/order-status.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { decideOutcome, type PaymentEvent } from './payment-event.js';
import { PaymentsRepository } from './payments.repository.js';
import { parseAmount } from './plausibility.js';
import { RefundsRepository } from './refunds.repository.js';

/** Operation of the gateway on a payment attempt. */
type Operation = 'status' | 'cancel' | 'expire';

/** Reasons for ending an order for which the gateway has no transaction. */
const REASONS = { cancel: 'no payment method was chosen', expire: 'not paid within 25 hours' };

/** Sources whose events are stored with every outcome. Other events are stored only if they are applied. */
const ALWAYS_STORED: readonly string[] = ['notification', 'refund'];

/** Records payment events. An order's payment changes in no other way. */
@Injectable()
export class PaymentEventsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly payments: PaymentsRepository,
    private readonly refunds: RefundsRepository,
  ) {}

  /** Stores an event of a locked order, and applies it unless it is a duplicate or late. */
  async record(tx: EntityManager, order: Order, event: PaymentEvent) {
    const { orderId } = order;
    // No payment has been recorded yet, so there is no history to read.
    const isFirst = order.transactionId === null && event.attemptId === order.currentAttemptId;
    const history = isFirst ? [] : await this.payments.findByTransaction(tx, orderId, event.transactionId);
    const outcome = decideOutcome(event, order, history);
    const stored = { ...event, orderId, outcome, transactionStatus: event.status };
    if (outcome === 'applied') {
      const refundedAmount = await this.#sumRefunds(tx, order, event);
      await pipelined(
        this.payments.insert(tx, stored),
        this.orders.applyPayment(tx, order, { ...event, refundedAmount }),
      );
    } else if (ALWAYS_STORED.includes(event.source)) await this.payments.insert(tx, stored);
    return outcome;
  }

  /**
   * Calls the gateway for each attempt of an order. `cancel` and `expire` also end the order, unless an attempt was paid or
   * can still be paid. If the order changed during the calls, the responses may be older than the order. Then only
   * cancellations are recorded, because they are final.
   *
   * @returns the order as it is now, and `outdated` if it changed during the calls
   * @throws GatewayUnavailableError
   */
  async callGateway(
    orderId: string,
    operation: Operation,
  ): Promise<{ order: Order; outcome: ReconciliationOutcome }> {
    const lastAppliedId = await this.payments.lastAppliedId(orderId);
    const attemptIds = await this.orders.listAttemptIds(orderId);
    const responses = await Promise.all(attemptIds.map((id) => this.#callForAttempt(id, operation)));
    const events = responses.filter((response) => response !== null);

    return this.dataSource.transaction(async (tx) => {
      let order = await this.orders.lockOrFail(tx, orderId);
      const isOutdated = (await this.payments.lastAppliedId(orderId, tx)) !== lastAppliedId;
      let outcome: ReconciliationOutcome = 'unchanged';
      for (const event of events) {
        if (isOutdated && event.source !== 'cancellation') continue;
        assertFullAmount(event, order);
        if ((await this.record(tx, order, event)) === 'applied') outcome = 'found';
        order = await this.orders.lockOrFail(tx, orderId);
      }
      if (isOutdated) return { order, outcome: 'outdated' };
      if (operation !== 'status' && order.status === 'pending') await this.#endOrder(tx, order, operation);
      // The service itself ended these payments, so nothing was found.
      const isExpired = operation === 'expire' && events.every(({ status }) => status === 'expire');
      return { order, outcome: isExpired ? 'expired' : outcome };
    });
  }

  /** @returns null if no payment method was chosen */
  async #callForAttempt(attemptId: string, operation: Operation): Promise<PaymentEvent | null> {
    const transaction = await (operation === 'status'
      ? this.gateway.getTransaction(attemptId)
      : this.gateway.cancelOrExpire(attemptId, operation));
    if (transaction === null) return null;
    const { transactionStatus, ...rest } = transaction;
    const status = ORDER_STATUSES.find((known) => known === transactionStatus);
    if (status === undefined)
      throw new GatewayUnavailableError('the gateway responded with an unknown transaction status');
    if (operation !== 'status' && status === 'pending')
      throw new GatewayUnavailableError(
        `the gateway did not ${operation} a payment that it still reports as pending`,
      );
    const isCancelled = operation === 'cancel' && status === 'cancel';
    const source = isCancelled ? 'cancellation' : 'reconciliation';
    return { ...rest, refundAmount: parseAmount(rest.refundAmount), status, source, attemptId };
  }

  /** Ends a locked order for which the gateway has no transaction. */
  async #endOrder(tx: EntityManager, order: Order, status: 'cancel' | 'expire'): Promise<void> {
    const { orderId } = order;
    const source = status === 'cancel' ? 'cancellation' : 'reconciliation';
    const payload = JSON.stringify({ reason: REASONS[status] });
    await this.payments.insert(tx, {
      orderId,
      source,
      outcome: 'applied',
      transactionStatus: status,
      payload,
    });
    await this.orders.close(tx, orderId, status);
    order.status = status;
  }

  /** Returns the sum of an order's refunds after an event. The gateway does not know about manual refunds. */
  async #sumRefunds(tx: EntityManager, order: Order, event: PaymentEvent): Promise<string> {
    const { orderId, grossAmount, refundedAmount } = order;
    if (event.status === 'refund') return grossAmount;
    if (event.status === 'partial_refund' && event.refundAmount !== null) {
      const manual = await this.refunds.sumManual(tx, orderId, event.transactionId);
      // Sums only grow. A smaller one is an older message.
      const sum = Math.max(manual + Number(event.refundAmount), Number(refundedAmount));
      return String(Math.min(sum, Number(grossAmount)));
    }
    // Another payment of the order has arrived, and nothing of it was returned.
    const isOtherPayment = isCompleted(event.status) && event.transactionId !== order.transactionId;
    return isOtherPayment ? '0' : refundedAmount;
  }
}

function assertFullAmount({ status, grossAmount }: PaymentEvent, order: Order): void {
  if (isCompleted(status) && parseAmount(grossAmount) !== order.grossAmount)
    throw new GatewayUnavailableError(
      `the gateway reports another amount than that of order ${order.orderId}`,
    );
}
