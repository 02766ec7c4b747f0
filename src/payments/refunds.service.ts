import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager, IsNull, Not, Raw } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { type LockedOrder, lockOrderOrFail } from '../orders/locks.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { chooseTransaction } from './payment.js';
import { PaymentHistoryService } from './payment-history.service.js';
import { hashRefundRequest, type RefundDto } from './refund.dto.js';
import { Refund } from './refund.entity.js';
import { RefundSettlementService } from './refund-settlement.service.js';
import { holdsMoney } from './transaction.js';

/** Time in which a request without a key counts as the repetition of an equal one that ended with a 502. */
const REPETITION_MS = 24 * 60 * 60 * 1000;

/**
 * Accepts requests for refunds. A refund is first committed without a result; then the request settles it
 * (docs/decisions/19). An order has at most one refund without a result. The next request settles that refund first, under
 * the same `refund_key`. A manual refund needs no call, so one transaction stores it with its result.
 */
@Injectable()
export class RefundsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
    private readonly settlement: RefundSettlementService,
  ) {}

  /** @param requestAgeS seconds since the request arrived */
  async refund(admin: AuthUser, orderId: string, request: RefundDto, requestAgeS: number): Promise<Order> {
    const settledBefore = await this.#listSettledBefore(orderId, requestAgeS);
    // Rejects the id of a payment attempt with 404, because locking would also find the order by that id.
    await this.orders.find(orderId);
    for (;;) {
      const { refundId, isOwn } = await this.#begin(admin, orderId, request, settledBefore);
      const refund = await this.settlement.complete(refundId);
      if (!isOwn) continue;
      if (refund.state === 'rejected') throw failures.refundRejected();
      const order = await this.orders.find(orderId);
      await this.#markAnswered(order, refund);
      return order;
    }
  }

  /** Lists the refunds that last changed before the request arrived. A refund changes when its request gets the result. */
  async #listSettledBefore(orderId: string, requestAgeS: number): Promise<string[]> {
    const isOlder = (column: string) => `${column} < clock_timestamp() - make_interval(secs => :requestAgeS)`;
    const where = { orderId, state: Not('requested' as const), updatedAt: Raw(isOlder, { requestAgeS }) };
    const settled = await this.dataSource.manager.find(Refund, { where });
    // The request of an unanswered refund still runs, so the two overlap.
    return settled.filter((refund) => !isUnanswered(refund)).map(({ refundId }) => refundId);
  }

  /** Returns the refund to complete next: that of the request (`isOwn`), or an earlier one of the order without a result. */
  #begin(admin: AuthUser, orderId: string, request: RefundDto, settledBefore: string[]) {
    return this.dataSource.transaction(async (tx) => {
      const order = await lockOrderOrFail(tx, orderId);
      const repeated = await this.#findRepeated(tx, orderId, request, settledBefore);
      if (repeated !== null) return { refundId: repeated.refundId, isOwn: true };
      const unsettled = await tx.findOneBy(Refund, { orderId, state: 'requested' });
      if (unsettled !== null) return { refundId: unsettled.refundId, isOwn: false };
      return { refundId: await this.#create(tx, order, admin, request), isOwn: true };
    });
  }

  /**
   * Returns the refund of an equal request: one with the same key or, without a key, one that had no result when this request
   * arrived, or whose result no client has (it ended with a 502, and a person presses the button again).
   * @throws Failure 409 for the key of another request
   */
  async #findRepeated(tx: EntityManager, orderId: string, request: RefundDto, settledBefore: string[]) {
    const requestDigest = hashRefundRequest(request);
    const idempotencyKey = request['idempotency-key'];
    if (idempotencyKey !== undefined) {
      const repeated = await tx.findOneBy(Refund, { orderId, idempotencyKey });
      if (repeated?.requestDigest.equals(requestDigest) === false) throw failures.idempotencyKeyReused();
      return repeated;
    }
    const where = { orderId, idempotencyKey: IsNull(), requestDigest };
    const equal = await tx.find(Refund, { where, order: { createdAt: 'DESC' } });
    return equal.find((refund) => !settledBefore.includes(refund.refundId) || isUnanswered(refund)) ?? null;
  }

  /** Stores a new refund: a manual one with its result, otherwise with the job that settles it if this request fails. */
  async #create(tx: EntityManager, order: LockedOrder, admin: AuthUser, request: RefundDto): Promise<string> {
    const { orderId, grossAmount: total } = order;
    const transaction = await this.#findRefundable(order, request.transaction_id, tx);
    const { transactionId, refundedAmount, gatewayRefunds } = transaction;
    const amount = request.amount ?? total - refundedAmount;
    if (refundedAmount + amount > total) throw failures.orderNotRefundable();
    const isManual = request.manual ?? false;
    const refundId = randomUUID();
    const refund = Object.assign(new Refund(), {
      refundId,
      orderId,
      attemptId: transaction.attemptId ?? orderId,
      transactionId,
      amount,
      gatewaySum: gatewayRefunds + (isManual ? 0 : amount),
      reason: request.reason === '' ? null : (request.reason ?? null),
      isManual,
      userId: admin.id,
      idempotencyKey: request['idempotency-key'] ?? null,
      requestDigest: hashRefundRequest(request),
    });
    await tx.insert(Refund, refund);
    await (isManual ? this.settlement.storeManual(tx, order, refund) : this.settlement.enqueue(tx, refund));
    return refundId;
  }

  /** @throws Failure 409 for an unknown transaction, or one that holds no money */
  async #findRefundable(order: Order, transactionId?: string | null, tx?: EntityManager) {
    const { transactions } = await this.history.read(order, tx);
    const transaction =
      transactionId == null
        ? chooseTransaction(transactions, order.orderId)
        : transactions.find((known) => known.transactionId === transactionId);
    if (transaction == null || !holdsMoney(transaction)) throw failures.orderNotRefundable();
    return transaction;
  }

  /**
   * Marks a refund as answered: a client gets its result. A further equal request without a key may return the result too,
   * unless nothing is left to refund: of several requests for everything that overlap, one succeeds.
   * @throws Failure 409
   */
  async #markAnswered(order: Order, { refundId, idempotencyKey, transactionId }: Refund): Promise<void> {
    const unanswered = { refundId, isAnswered: false };
    const { affected } = await this.dataSource.manager.update(Refund, unanswered, { isAnswered: true });
    if (affected === 0 && idempotencyKey === null) await this.#findRefundable(order, transactionId);
  }
}

function isUnanswered({ state, isAnswered, createdAt }: Refund): boolean {
  return state === 'succeeded' && !isAnswered && Date.now() - createdAt.getTime() < REPETITION_MS;
}
