import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull, Raw } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { JobsService } from '../jobs/jobs.service.js';
import type { Order, OrderRow } from '../orders/order.entity.js';
import { type LockedOrder, OrdersService } from '../orders/orders.service.js';
import type { RefundDto } from './admin-orders.dto.js';
import { PaymentHistoryService } from './payment-history.service.js';
import { COMPLETE_REFUND, RefundCompletionService } from './refund-completion.service.js';
import { Refund } from './refund.entity.js';

/** Longer than a request takes, so that the job has nothing to do unless the request failed. */
const JOB_DELAY_MS = 60_000;

/**
 * Accepts requests for refunds. A refund is first committed without a result; then the request completes it
 * (docs/decisions/19). An order has at most one refund without a result. The next request completes that refund first, under
 * the same `refund_key`. A manual refund needs no call, so one transaction stores it with its result.
 */
@Injectable()
export class RefundsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
    private readonly completion: RefundCompletionService,
  ) {}

  /** @param arrivedAtMs time of `performance.now()` at which the request arrived */
  async refund(admin: AuthUser, orderId: string, request: RefundDto, arrivedAtMs: number): Promise<Order> {
    // Ends, because each turn completes the refund of another request, and a request stores at most one refund.
    for (;;) {
      const { refundId, isOwn } = await this.#chooseNext(admin, orderId, request, arrivedAtMs);
      const refund = await this.completion.complete(refundId);
      if (!isOwn) continue;
      if (refund.state === 'rejected') throw failures.refundRejected();
      const order = await this.orders.findOrFail(orderId);
      await this.#markAnswered(order, refund);
      return order;
    }
  }

  /** Returns the refund to complete next: an earlier refund of the order that has no result, or that of the request (`isOwn`). */
  #chooseNext(admin: AuthUser, orderId: string, request: RefundDto, arrivedAtMs: number) {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const repeated = await this.#findRepeated(tx, orderId, request, arrivedAtMs);
      if (repeated !== null) return { refundId: repeated.refundId, isOwn: true };
      const waiting = await tx.findOneBy(Refund, { orderId, state: 'requested' });
      if (waiting !== null) return { refundId: waiting.refundId, isOwn: false };
      return { refundId: await this.#create(tx, order, admin, request), isOwn: true };
    });
  }

  /**
   * Returns the refund of an equal request: one with the same key or, without a key, one that overlaps with this request, or
   * whose result no client has (it ended with a 502, and a person presses the button again).
   * @throws Failure 409 for the key of another request
   */
  async #findRepeated(tx: EntityManager, orderId: string, request: RefundDto, arrivedAtMs: number) {
    const requestDigest = hashRefundRequest(request);
    const idempotencyKey = request['idempotency-key'];
    if (idempotencyKey !== undefined) {
      const repeated = await tx.findOneBy(Refund, { orderId, idempotencyKey });
      if (repeated?.requestDigest.equals(requestDigest) === false) throw failures.idempotencyKeyReused();
      return repeated;
    }
    const equal = { orderId, idempotencyKey: IsNull(), requestDigest };
    // A duration, because the clocks of the service and of PostgreSQL differ.
    const ageS = (performance.now() - arrivedAtMs) / 1000;
    const sinceArrival = (column: string) => `${column} >= clock_timestamp() - make_interval(secs => :ageS)`;
    const ofLastDay = (column: string) => `${column} > now() - interval '24 hours'`;
    return tx.findOne(Refund, {
      where: [
        { ...equal, state: 'requested' },
        // The refund got its result, or its result was returned, after this request arrived: the two overlap.
        { ...equal, updatedAt: Raw(sinceArrival, { ageS }) },
        { ...equal, state: 'succeeded', isAnswered: false, createdAt: Raw(ofLastDay) },
      ],
      order: { createdAt: 'DESC' },
    });
  }

  /** Stores a new refund: a manual one with its result, otherwise with the job that completes it if this request fails. */
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
      reason: request.reason ?? null,
      isManual,
      userId: admin.id,
      idempotencyKey: request['idempotency-key'] ?? null,
      requestDigest: hashRefundRequest(request),
    });
    await tx.insert(Refund, refund);
    if (isManual) {
      // Not in a later transaction: a process of version 1.2 would call the gateway for any refund without a result.
      const payload = JSON.stringify({ refund_key: refundId, amount, reason: refund.reason, manual: true });
      await this.completion.storeSuccess(tx, order, refund, { statusCode: '200', payload });
    } else {
      const runAt = new Date(Date.now() + JOB_DELAY_MS);
      await this.jobs.enqueue(tx, COMPLETE_REFUND, { refundId }, { subject: refundId, runAt });
    }
    return refundId;
  }

  /** @throws Failure 409 for an unknown transaction, or one that holds no money */
  async #findRefundable(order: OrderRow, transactionId?: string | null, tx?: EntityManager) {
    const { transactions, paid } = await this.history.read(order, tx);
    const transaction =
      transactionId == null ? paid : transactions.find((known) => known.transactionId === transactionId);
    if (transaction?.holdsMoney !== true) throw failures.orderNotRefundable();
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

/**
 * Hashes a request. Without `transaction_id`, the hash equals that of version 1.2, so that a request that was first sent
 * before the upgrade can be repeated after it.
 */
function hashRefundRequest({ amount, reason, manual, transaction_id }: RefundDto): Buffer {
  const canonical = [amount ?? null, reason ?? null, manual ?? false];
  const all = transaction_id == null ? canonical : [...canonical, transaction_id];
  return createHash('sha256').update(JSON.stringify(all)).digest();
}
