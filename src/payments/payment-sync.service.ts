import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ReconciliationOutcome } from './payments.metrics.js';
import {
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
  TRANSACTION_STATUSES,
} from '../gateway/payment-gateway.js';
import { lockOrderOrFail } from '../orders/locks.js';
import { isCompleted } from '../orders/order-status.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { type NewPaymentEvent, PaymentHistoryService } from './payment-history.service.js';
import { parseAmount } from './plausibility.js';
import { isUndecided } from './transaction.js';

type Operation = 'status' | 'cancel' | 'expire';
/** Response of the gateway, with the payment attempt that the gateway names. */
type ReportedEvent = NewPaymentEvent & { readonly attemptId: string };

/** Asks the gateway about all transactions of an order, or ends them, and records the responses. */
@Injectable()
export class PaymentSyncService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
  ) {}

  /**
   * Calls the gateway for each attempt of an order and for each transaction that the attempts do not report, and records the
   * responses. `cancel` and `expire` also end the order, unless it was paid or can still be paid. If the order changed during
   * the calls, the responses may be older than that change. Then only cancellations are recorded, because they are final.
   * @param userId customer who cancels the order
   * @returns the order as it is now, with the outcome `outdated` if the order changed during the calls
   * @throws GatewayUnavailableError
   */
  async sync(
    orderId: string,
    operation: Operation,
    userId?: number,
  ): Promise<{ order: Order; outcome: ReconciliationOutcome }> {
    const before = await this.orders.findWithCustomer(orderId);
    const { payment, transactionIds, lastAppliedId } = await this.history.readUnsettled(before);
    const attemptIds = before.attemptIds;
    const ofAttempts = await Promise.all(attemptIds.map((id) => this.#callForAttempt(id, operation)));
    const reported = new Set(ofAttempts.map((event) => event?.transactionId));
    const undecided = payment.transactions.filter(isUndecided).map(({ transactionId }) => transactionId);
    const missing = [...new Set([...undecided, ...transactionIds])].filter((id) => !reported.has(id));
    const ofTransactions = await Promise.all(
      missing.map((id) => this.#callForTransaction(id, operation, attemptIds)),
    );
    const events = [...ofAttempts, ...ofTransactions].filter((event) => event !== null);

    return this.dataSource.transaction(async (tx) => {
      const order = await lockOrderOrFail(tx, orderId);
      const now = await this.history.readUnsettled(order, tx);
      const newestAttemptId = await this.orders.findNewestAttemptId(tx, order);
      const isOutdated = now.lastAppliedId !== lastAppliedId || !attemptIds.includes(newestAttemptId);
      let outcome: ReconciliationOutcome = 'unchanged';
      for (const event of events) {
        if (isOutdated && event.source !== 'cancellation') continue;
        // A new attempt may still bring money, so this cancellation does not end the order.
        if (isOutdated) event.source = 'reconciliation';
        if (isCompleted(event.status) && parseAmount(event.grossAmount) !== order.grossAmount)
          throw new GatewayUnavailableError(`the gateway reports a wrong amount for order ${orderId}`);
        if ((await this.history.record(tx, order, event)) === 'applied') outcome = 'found';
      }
      if (operation !== 'status' && (!isOutdated || order.status === operation))
        await this.history.end(tx, order, operation);
      const { endedAs } = await this.history.readPayment(order, tx);
      if (userId !== undefined && endedAs === 'cancel' && now.payment.endedAs === null)
        await this.orders.recordAction(tx, { orderId, action: 'cancel', userId });
      if (isOutdated) return { order, outcome: 'outdated' };
      // The service itself ended these payments, so the outcome is not `found`.
      const isExpired = operation === 'expire' && events.every(({ status }) => status === 'expire');
      return { order, outcome: isExpired ? 'expired' : outcome };
    });
  }

  /** The gateway may send another id as `order_id`, so the id of the call counts. */
  async #callForAttempt(attemptId: string, operation: Operation): Promise<NewPaymentEvent | null> {
    const event = await this.#call(attemptId, operation);
    return event === null ? null : { ...event, attemptId };
  }

  /** The signature of a notification does not cover its transaction, which may belong to another order: then returns null. */
  async #callForTransaction(id: string, operation: Operation, attemptIds: readonly string[]) {
    const reported = await this.#call(id, 'status');
    // A response that names no order has the id of the call.
    const namesOrder = reported?.attemptId !== id.toLowerCase();
    if (reported === null || (namesOrder && !attemptIds.includes(reported.attemptId))) return null;
    const event = operation === 'status' ? reported : await this.#call(id, operation);
    return event === null || namesOrder ? event : { ...event, attemptId: attemptIds[0] ?? null };
  }

  /** Returns the gateway's response as an event; null until the customer chooses a payment method. */
  async #call(id: string, operation: Operation): Promise<ReportedEvent | null> {
    const transaction = await (operation === 'status'
      ? this.gateway.getTransaction(id)
      : this.gateway.cancelOrExpire(id, operation));
    if (transaction === null) return null;
    const status = parseStatus(transaction);
    if (operation !== 'status' && status === 'pending')
      throw new GatewayUnavailableError(`the gateway did not ${operation} a pending payment`);
    const isCancelled = operation === 'cancel' && status === 'cancel';
    const source = isCancelled ? 'cancellation' : 'reconciliation';
    return { ...transaction, refundAmount: parseAmount(transaction.refundAmount), status, source };
  }
}

/** @throws GatewayUnavailableError for a status that this version does not know */
function parseStatus({ transactionStatus }: GatewayTransaction) {
  const status = TRANSACTION_STATUSES.find((known) => known === transactionStatus);
  if (status === undefined)
    throw new GatewayUnavailableError('the gateway responded with an unknown transaction status');
  return status;
}
