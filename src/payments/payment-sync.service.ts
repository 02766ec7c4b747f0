import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { parseRupiah } from '../common/rupiah.js';
import type { ReconciliationOutcome } from './payments.metrics.js';
import { parseObject } from '../gateway/midtrans.messages.js';
import {
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
  TRANSACTION_STATUSES,
} from '../gateway/payment-gateway.js';
import { lockOrderOrFail } from '../orders/locks.js';
import { type Fulfilment, isCompleted } from '../orders/order-status.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import type { PaymentEvent } from './payment-event.entity.js';
import { type NewPaymentEvent, PaymentHistoryService } from './payment-history.service.js';
import { isUndecided } from './transaction.js';

/** The order changes during a call at most once for each new payment page or payment. */
const MAX_TRIES = 5;

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

  async cancel(customer: AuthUser, orderId: string): Promise<Order> {
    const order = await this.orders.find(orderId, customer.id);
    if (!order.isOpen || !(await this.#endPayment(orderId, customer.id))) throw failures.orderNotPending();
    return this.orders.find(orderId, customer.id);
  }

  /**
   * Takes an order to its next step. Refusing a pending order first cancels its payment at the gateway: if that fails, the
   * order does not change. An order that was paid in the meantime is refused too, and a refund is due.
   */
  async advance(admin: AuthUser, orderId: string, next: Fulfilment): Promise<Order> {
    if (next === 'refused') {
      const order = await this.orders.find(orderId);
      if (order.status === 'pending' && order.canBecome(next)) await this.#endPayment(orderId);
    }
    return this.orders.storeStep(admin, orderId, next);
  }

  /** Cancels the payment of an order. Returns false if the order was paid, or has ended, in the meantime. */
  async #endPayment(orderId: string, userId?: number): Promise<boolean> {
    try {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        // If the order changed during the call, for example by a new payment attempt, call again.
        const { order, outcome } = await this.sync(orderId, 'cancel', userId);
        if (outcome !== 'outdated' || !order.awaitsPayment) return order.status === 'cancel';
      }
      throw failures.gatewayUnavailable();
    } catch (error) {
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }

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
    const before = await this.orders.find(orderId);
    const history = await this.history.read(before);
    const { attemptIds } = before;
    const ofAttempts = await Promise.all(attemptIds.map((id) => this.#callForAttempt(id, operation)));
    const reported = new Set(ofAttempts.map((event) => event?.transactionId));
    const undecided = history.transactions.filter(isUndecided).map(({ transactionId }) => transactionId);
    const known = new Set([...undecided, ...listUnconfirmed(history.events)]);
    const missing = [...known].filter((id) => !reported.has(id));
    const ofTransactions = await Promise.all(
      missing.map((id) => this.#callForTransaction(id, operation, attemptIds)),
    );
    const events = [...ofAttempts, ...ofTransactions].filter((event) => event !== null);
    const unknownIds = missing.filter((_, index) => ofTransactions[index] === null);

    return this.dataSource.transaction(async (tx) => {
      const order = await lockOrderOrFail(tx, orderId);
      const now = await this.history.read(order, tx);
      const hasNewPage = !attemptIds.includes(await this.orders.findNewestAttemptId(tx, order));
      const isOutdated = hasNewPage || findLastApplied(now.events) !== findLastApplied(history.events);
      let outcome: ReconciliationOutcome = 'unchanged';
      for (const event of events) {
        if (isOutdated && event.source !== 'cancellation') continue;
        // A new attempt may still bring money, so this cancellation does not end the order.
        if (isOutdated) event.source = 'reconciliation';
        if (isCompleted(event.status) && parseRupiah(event.grossAmount) !== order.grossAmount)
          throw new GatewayUnavailableError(`the gateway reports a wrong amount for order ${orderId}`);
        if ((await this.history.record(tx, order, event)) === 'applied') outcome = 'found';
      }
      if (operation !== 'status' && (!isOutdated || order.status === operation))
        await this.history.end(tx, order, operation, unknownIds);
      const { endedAs } = await this.history.read(order, tx);
      if (userId !== undefined && endedAs === 'cancel' && now.endedAs === null)
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
    return { ...transaction, refundAmount: parseRupiah(transaction.refundAmount), status, source };
  }
}

/** Lists the ids of the transactions that rejected and unconfirmed notifications name. */
function listUnconfirmed(events: readonly PaymentEvent[]): string[] {
  return events
    .filter(({ source }) => source === 'notification')
    .filter(({ outcome }) => outcome === 'rejected' || outcome === 'unconfirmed')
    .map(({ payload }) => parseObject(payload)?.transaction_id)
    .filter((id): id is string => typeof id === 'string' && id !== '' && id.length <= 255);
}

function findLastApplied(events: readonly PaymentEvent[]): string | undefined {
  return events.findLast(({ outcome }) => outcome === 'applied')?.id;
}

/** @throws GatewayUnavailableError for a status that this version does not know */
function parseStatus({ transactionStatus }: GatewayTransaction) {
  const status = TRANSACTION_STATUSES.find((known) => known === transactionStatus);
  if (status === undefined)
    throw new GatewayUnavailableError('the gateway responded with an unknown transaction status');
  return status;
}
