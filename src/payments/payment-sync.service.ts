import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { parseRupiah } from '../common/rupiah.js';
import { STORABLE } from '../common/validation/text.decorator.js';
import { parseJsonObject, parseText } from '../gateway/midtrans.messages.js';
import {
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
  TRANSACTION_STATUSES,
} from '../gateway/payment-gateway.js';
import { isCompleted } from '../orders/order-status.js';
import type { Order, OrderRow } from '../orders/order.entity.js';
import { OrdersService } from '../orders/orders.service.js';
import type { Payment } from './payment.js';
import { type NewPaymentEvent, PaymentHistoryService } from './payment-history.service.js';
import { isOpenTransaction } from './transaction.js';

type Operation = 'status' | 'cancel' | 'expire';
export type SyncOutcome = 'unchanged' | 'found' | 'expired' | 'outdated';

/** Asks the gateway about all transactions of an order, or ends them, and records the responses. */
@Injectable()
export class PaymentSyncService {
  readonly #logger = new Logger('Payments');

  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
  ) {}

  /**
   * Calls the gateway about an order, and records the responses. `cancel` and `expire` also end the order, unless it was paid or
   * can still be paid. If the order changed during the calls, the responses may be older than that change. Then only
   * cancellations are recorded, because they are final.
   * @param userId customer who cancels the order
   * @returns the order as it is now, with the outcome `outdated` if the order changed during the calls, `expired` if the
   *   operation is `expire` and the order is expired now, `found` if a response changed the payment, otherwise `unchanged`
   * @throws GatewayUnavailableError
   */
  async sync(
    orderId: string,
    operation: Operation,
    userId?: number,
  ): Promise<{ order: OrderRow; outcome: SyncOutcome }> {
    const before = await this.orders.findOrFail(orderId);
    // The attempt with the newest page, which `findNewestAttemptId` finds again after the calls.
    const newestBefore = before.attempts.findLast(({ token }) => token !== null)?.attemptId ?? orderId;
    const paymentBefore = await this.history.read(before);
    const { events, unknownIds } = await this.#callGateway(before, paymentBefore, operation);

    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const payment = await this.history.read(order, tx);
      const hasNewPage = (await this.orders.findNewestAttemptId(tx, order)) !== newestBefore;
      const isOutdated = hasNewPage || findLastApplied(payment) !== findLastApplied(paymentBefore);
      let isFound = false;
      for (const event of isOutdated ? listCancellations(events) : events)
        if ((await this.history.record(tx, order, event)) === 'applied') isFound = true;
      if (operation !== 'status' && (!isOutdated || order.status === operation))
        await this.history.recordEnd(tx, order, operation, unknownIds);
      if (userId !== undefined && order.status === 'cancel' && payment.endedAs === null)
        await this.orders.recordAction(tx, { orderId, action: 'cancel', userId });
      if (isOutdated) return { order, outcome: 'outdated' };
      // Not `found`, even if a response was recorded: the service itself asked for the end.
      if (operation === 'expire' && order.status === 'expire') return { order, outcome: 'expired' };
      return { order, outcome: isFound ? 'found' : 'unchanged' };
    });
  }

  /**
   * Calls the gateway for each attempt of an order, and for each transaction that may bring money and that the attempts do not
   * report. Returns the responses, and the ids of the transactions that the gateway does not know for this order.
   */
  async #callGateway(order: Order, payment: Payment, operation: Operation) {
    const attemptIds = order.attempts.map(({ attemptId }) => attemptId).reverse();
    const ofAttempts = await Promise.all(attemptIds.map((id) => this.#call(id, operation, id)));
    const reportedIds = new Set(ofAttempts.map((response) => response?.transactionId));
    const openIds = payment.transactions.filter(isOpenTransaction).map(({ transactionId }) => transactionId);
    const expectedIds = new Set([...openIds, ...listIdsToConfirm(payment)]);
    const missingIds = [...expectedIds].filter((id) => !reportedIds.has(id));
    const ofMissing = await Promise.all(
      missingIds.map((id) => this.#callForTransaction(id, operation, attemptIds)),
    );
    const events = this.#toEvents([...ofAttempts, ...ofMissing], operation, order);
    return { events, unknownIds: missingIds.filter((_, index) => ofMissing[index] === null) };
  }

  /**
   * Calls the gateway for a transaction. Returns null if the gateway does not know the transaction, or if the transaction belongs
   * to another order: the signature of a notification does not cover the transaction id.
   */
  async #callForTransaction(id: string, operation: Operation, attemptIds: readonly string[]) {
    const reported = await this.gateway.getTransaction(id);
    // A response that names no order has the id of the call. Its transaction counts for the newest attempt.
    const attemptId = reported?.attemptId === id.toLowerCase() ? attemptIds[0] : reported?.attemptId;
    if (reported === null || attemptId === undefined || !attemptIds.includes(attemptId)) return null;
    return operation === 'status' ? { ...reported, attemptId } : this.#call(id, operation, attemptId);
  }

  /**
   * Returns null for an unknown id, and until the customer chooses a payment method.
   * @param attemptId payment attempt of the response: the gateway may send another id as `order_id`
   */
  async #call(id: string, operation: Operation, attemptId: string): Promise<GatewayTransaction | null> {
    const transaction = await (operation === 'status'
      ? this.gateway.getTransaction(id)
      : this.gateway.cancelOrExpire(id, operation));
    return transaction === null ? null : { ...transaction, attemptId };
  }

  /**
   * Converts responses of the gateway to events. A check skips a response with an unknown status, such as `chargeback`, or with a
   * wrong amount, and continues with the other transactions of the order.
   * @throws GatewayUnavailableError if `cancel` or `expire` gets such a response, or a payment that is still pending
   */
  #toEvents(
    responses: readonly (GatewayTransaction | null)[],
    operation: Operation,
    { orderId, grossAmount: total }: Order,
  ) {
    return responses.flatMap((response) => {
      if (response === null) return [];
      const { transactionStatus, ...transaction } = response;
      const { transactionId, grossAmount, refundAmount } = transaction;
      const status = TRANSACTION_STATUSES.find((known) => known === transactionStatus);
      const isAmountWrong = isCompleted(status ?? null) && parseRupiah(grossAmount) !== total;
      if (status === undefined || isAmountWrong) {
        const fault = isAmountWrong
          ? `the wrong amount ${grossAmount}`
          : `the unknown status ${transactionStatus}`;
        const problem = `the gateway reports ${fault} of payment ${transactionId} of order ${orderId}`;
        if (operation !== 'status') throw new GatewayUnavailableError(problem);
        this.#logger.error(problem);
        return [];
      }
      if (operation !== 'status' && status === 'pending')
        throw new GatewayUnavailableError(`the gateway did not ${operation} a pending payment`);
      const isCancelled = operation === 'cancel' && status === 'cancel';
      const source = isCancelled ? ('cancellation' as const) : ('reconciliation' as const);
      return [{ ...transaction, refundAmount: parseRupiah(refundAmount), status, source }];
    });
  }
}

/** Lists the ids of the transactions that rejected and unconfirmed notifications name. Only the gateway can confirm them. */
function listIdsToConfirm({ events }: Payment): string[] {
  return events
    .filter(({ source }) => source === 'notification')
    .filter(({ outcome }) => outcome === 'rejected' || outcome === 'unconfirmed')
    .map(({ payload }) => parseText(parseJsonObject(payload)?.transaction_id))
    .filter((id) => id !== null)
    .filter((id) => STORABLE.test(id));
}

function findLastApplied({ events }: Payment): number | undefined {
  return events.findLast(({ outcome }) => outcome === 'applied')?.id;
}

/**
 * Lists the cancellations, with the source `reconciliation`. An event with the source `cancellation` would end the order, although
 * a payment page that was opened during the calls may still be paid.
 */
function listCancellations(events: readonly NewPaymentEvent[]): NewPaymentEvent[] {
  const cancellations = events.filter(({ source }) => source === 'cancellation');
  return cancellations.map((event) => ({ ...event, source: 'reconciliation' }));
}
