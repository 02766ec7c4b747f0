import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { failures } from '../common/errors/failures.js';
import type { OrderRow } from '../orders/order.entity.js';
import { OrderMailsService } from '../orders/order-mails.service.js';
import { type LockedOrder, OrdersService } from '../orders/orders.service.js';
import { applyEvent, computeOrderColumns, foldHistory, NO_PAYMENT, type Payment } from './payment.js';
import { type Outcome, PaymentEvent } from './payment-event.entity.js';
import { canSucceed } from './transaction.js';

export type NewPaymentEvent = Pick<PaymentEvent, 'source' | 'status' | 'payload'> & Partial<PaymentEvent>;

const PAGE_SIZE = 50;
/** Reasons for the end of an order by the service. The history shows them. */
const END_REASONS = { cancel: 'the order was cancelled', expire: 'not paid in time' };

/** Payment history of orders. An order's payment changes only when a payment event is recorded here. */
@Injectable()
export class PaymentHistoryService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersService,
    private readonly mails: OrderMailsService,
  ) {}

  async read(order: OrderRow, tx: EntityManager = this.dataSource.manager): Promise<Payment> {
    const { orderId } = order;
    const events = await tx.find(PaymentEvent, { where: { orderId }, order: { id: 'ASC' } });
    return foldHistory(order, events);
  }

  /**
   * Returns an order with its transactions, its actions and a page of its history, all as they were at one moment.
   * @throws Failure 404 for an unknown order, and after the last page
   */
  readOrder(orderId: string, lastId: number) {
    return this.dataSource.transaction('REPEATABLE READ', async (tx) => {
      const order = await this.orders.findOrFail(orderId, undefined, tx);
      const { events: all, transactions, surplus } = await this.read(order, tx);
      const events = all.filter(({ id }) => id > lastId).slice(0, PAGE_SIZE);
      if (events.length === 0 && lastId > 0) throw failures.notFound();
      return { order, transactions, surplus, events, actions: await this.orders.listActions(tx, orderId) };
    });
  }

  /**
   * Stores a payment event, updates the order if the payment has changed, and mails the customer if the refunded sum has grown.
   * Returns the outcome of the event.
   */
  async record(
    tx: EntityManager,
    order: LockedOrder,
    event: NewPaymentEvent,
  ): Promise<Exclude<Outcome, 'rejected'>> {
    // Saves a statement. Such an order has at most rejected events, which change nothing.
    const isNew = order.transactionId === null && order.attemptId === null && order.status === 'pending';
    const before = isNew ? NO_PAYMENT : await this.read(order, tx);
    const { orderId } = order;
    const received = Object.assign(new PaymentEvent(), { receivedAt: new Date() }, event, { orderId });
    const { payment: after, outcome: ownOutcome } = applyEvent(order, before, received);
    const bringsMoney = after.transactions.some(({ heldFrom }) => heldFrom === before.events.length);
    const isUnconfirmed = event.source === 'notification' && order.hasEnded && bringsMoney;
    const outcome = isUnconfirmed ? 'unconfirmed' : ownOutcome;
    // A status response or cancellation that changes nothing is not stored.
    const isStored = outcome === 'applied' || ['notification', 'refund'].includes(event.source);
    const payment = isUnconfirmed ? before : after;
    const columns = await this.#computeColumns(tx, order, payment);
    const sum = sumRefunds(payment);
    const amount = sum - sumRefunds(before);
    // Start all statements now. If one fails, the transaction is rolled back, and a later statement would run outside of it.
    await Promise.all([
      isStored ? tx.insert(PaymentEvent, Object.assign(received, { outcome })) : undefined,
      this.orders.applyPayment(tx, order, columns),
      amount > 0 ? this.mails.enqueue(tx, orderId, 'order-refunded', { amount, sum }) : undefined,
    ]);
    return outcome;
  }

  /**
   * Ends an order, unless it was paid, can still be paid, or has ended already. After that, only a transaction that brings money
   * changes the status of the order.
   * @param unknownIds transactions that the gateway does not know, so that they cannot be paid
   */
  async recordEnd(
    tx: EntityManager,
    order: LockedOrder,
    status: 'cancel' | 'expire',
    unknownIds: readonly string[],
  ): Promise<void> {
    const { transactions, paid, endedAs } = await this.read(order, tx);
    const canBePaid = transactions.some((t) => canSucceed(t) && !unknownIds.includes(t.transactionId));
    if (endedAs !== null || paid !== undefined || canBePaid) return;
    const source = status === 'cancel' ? 'cancellation' : 'reconciliation';
    const payload = JSON.stringify({ reason: END_REASONS[status] });
    await this.record(tx, order, { source, status, payload });
  }

  async listOrdersWithSeveralEvents(): Promise<string[]> {
    const rows = await this.dataSource.manager
      .createQueryBuilder(PaymentEvent, 'event')
      .select('event.orderId', 'orderId')
      .where("event.outcome <> 'rejected'")
      .groupBy('event.orderId')
      .having('count(*) > 1')
      .getRawMany<{ orderId: string }>();
    return rows.map(({ orderId }) => orderId);
  }

  /** Folds the whole history of an order again. Returns true if the columns of the order were wrong. */
  async repair(tx: EntityManager, order: LockedOrder): Promise<boolean> {
    const payment = await this.read(order, tx);
    return this.orders.applyPayment(tx, order, await this.#computeColumns(tx, order, payment));
  }

  async #computeColumns(tx: EntityManager, order: LockedOrder, payment: Payment) {
    // The columns depend on the newest attempt only if no transaction was paid, or if version 1.2 did not store the paid attempt.
    const attemptId = payment.paid?.attemptId ?? (await this.orders.findNewestAttemptId(tx, order));
    return computeOrderColumns(order, payment, attemptId);
  }
}

function sumRefunds({ transactions }: Payment): number {
  return transactions.reduce((sum, { refundedAmount }) => sum + refundedAmount, 0);
}
