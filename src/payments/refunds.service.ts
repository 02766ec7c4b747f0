import { Injectable, type OnModuleInit } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type EntityManager } from 'typeorm';
import { isClaimActive } from '../common/claims.js';
import { failures } from '../common/errors.js';
import { refunds as refundsMetric } from '../common/metrics.js';
import {
  GatewayRejectedError,
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
} from '../gateway/payment-gateway.js';
import { JobsService } from '../jobs/jobs.service.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { PaymentEventsService } from './payment-events.service.js';
import type { RefundDto } from './refund.dto.js';
import { Refund, type RefundState } from './refund.entity.js';

const SETTLE_REFUND = 'settle-refund';
/** Longer than a request takes, so that the job has nothing to do unless the request failed. */
const SETTLE_AFTER_MS = 60_000;
const POLL_MS = 250;
const MAX_WAIT_MS = 10_000;

/** Response to record: the gateway's or, for a manual refund, one that the service writes itself. */
type RefundResponse = Pick<GatewayTransaction, 'statusCode' | 'payload'>;

interface Step {
  readonly refund: Refund;
  /** True if the request asked for this refund; false for an earlier refund of the order that has no result yet. */
  readonly isOwn: boolean;
  /** True if this request must settle the refund. False if there is a result, or another request or a job has the claim. */
  readonly hasClaim: boolean;
  readonly isNewManual?: true;
}

/**
 * Refunds orders. A refund is first committed without a result. Then the request settles it: calls the gateway and stores the
 * result (docs/decisions/19). An order has at most one refund without a result. The next request settles that refund first,
 * under the same `refund_key`. A manual refund needs no call, so one transaction stores it with its result.
 */
@Injectable()
export class RefundsService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly jobs: JobsService,
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
  ) {}

  onModuleInit(): void {
    const settle = ({ refundId }: { refundId: string }): Promise<void> => this.#settleAbandoned(refundId);
    this.jobs.handle(SETTLE_REFUND, settle, { kind: 'payments' });
  }

  /**
   * Refunds an order in full or in part.
   * @throws Failure 404; 409 if the refund is not possible, or for the key of another request; 502 if there is no result
   */
  async refund(orderId: string, request: RefundDto): Promise<Order> {
    // Rejects the id of a payment attempt with 404, because `#begin` would also find the order by that id.
    await this.orders.findWithCustomer(orderId);
    for (;;) {
      const { refund, isOwn, hasClaim, isNewManual } = await this.#begin(orderId, request);
      if (isNewManual === true) refundsMetric.inc({ outcome: 'manual' });
      const state = await (hasClaim ? this.#settle(refund) : this.#waitFor(refund.refundId));
      if (!isOwn) continue;
      if (state === 'rejected') throw failures.refundRejected();
      return this.orders.findWithCustomer(orderId);
    }
  }

  /** Finds the refund of a repeated request or the order's refund without a result, or creates one. Claims it if possible. */
  #begin(orderId: string, request: RefundDto): Promise<Step> {
    const idempotencyKey = request['idempotency-key'];
    const digest = hashRequest(request);
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const repeated =
        idempotencyKey === undefined ? null : await tx.findOneBy(Refund, { orderId, idempotencyKey });
      if (repeated?.requestDigest.equals(digest) === false) throw failures.idempotencyKeyReused();
      if (repeated !== null && repeated.state !== 'requested')
        return { refund: repeated, isOwn: true, hasClaim: false };

      const unsettled = await tx.findOneBy(Refund, { orderId, state: 'requested' });
      const refund = unsettled ?? (await this.#create(tx, order, request, digest));
      // Only a new manual refund has a result at this point.
      if (refund.state === 'succeeded') return { refund, isOwn: true, hasClaim: false, isNewManual: true };
      const hasClaim = !isClaimActive(refund.claimedAt);
      if (hasClaim) await this.#claim(tx, refund);
      // The same request without a key, after a failure: a person presses the button again.
      const isRetry = idempotencyKey === undefined && hasClaim && refund.requestDigest.equals(digest);
      const isOwn = unsettled === null || isRetry || refund.refundId === repeated?.refundId;
      return { refund, isOwn, hasClaim };
    });
  }

  /** Stores a new refund: a manual one with its result, otherwise with the job that settles it if this request fails. */
  async #create(tx: EntityManager, order: Order, request: RefundDto, requestDigest: Buffer): Promise<Refund> {
    const { orderId, transactionId, currentAttemptId: attemptId, grossAmount, refundedAmount } = order;
    const amount = request.amount ?? grossAmount - refundedAmount;
    const isManual = request.manual ?? false;
    if (!order.isPaid || transactionId === null || refundedAmount + amount > grossAmount)
      throw failures.orderNotRefundable();
    const manualSum = await this.events.sumManualRefunds(tx, orderId, transactionId);
    const refundId = randomUUID();
    const refund = Object.assign(new Refund(), {
      refundId,
      orderId,
      attemptId,
      transactionId,
      amount,
      gatewaySum: refundedAmount - manualSum + (isManual ? 0 : amount),
      reason: request.reason === '' ? null : (request.reason ?? null),
      isManual,
      state: isManual ? ('succeeded' as const) : ('requested' as const),
      idempotencyKey: request['idempotency-key'] ?? null,
      requestDigest,
    });
    await tx.insert(Refund, refund);
    if (isManual) {
      const payload = { refund_key: refundId, amount, reason: refund.reason, manual: true };
      await this.#recordEvent(tx, order, refund, { statusCode: '200', payload: JSON.stringify(payload) });
      return refund;
    }
    const job = { key: `${SETTLE_REFUND}:${refundId}`, runAt: new Date(Date.now() + SETTLE_AFTER_MS) };
    await this.jobs.enqueue(tx, SETTLE_REFUND, { refundId }, job);
    return refund;
  }

  /** Lets this request or job settle the refund. The transaction has locked the order. */
  async #claim(tx: EntityManager, refund: Refund): Promise<void> {
    refund.claimedAt = new Date();
    await tx.update(Refund, { refundId: refund.refundId }, { claimedAt: refund.claimedAt });
  }

  /** Waits until a refund has a result. @throws Failure 502 if the request that claimed the refund gets none in time */
  async #waitFor(refundId: string): Promise<RefundState> {
    for (let waited = 0; waited < MAX_WAIT_MS; waited += POLL_MS) {
      const refund = await this.dataSource.manager.findOneByOrFail(Refund, { refundId });
      if (refund.state !== 'requested') return refund.state;
      if (!isClaimActive(refund.claimedAt)) break;
      await delay(POLL_MS);
    }
    throw failures.gatewayUnavailable();
  }

  /** Settles a refund whose request ended without a result, for example because the process died. */
  async #settleAbandoned(refundId: string): Promise<void> {
    const { orderId } = await this.dataSource.manager.findOneByOrFail(Refund, { refundId });
    const refund = await this.dataSource.transaction(async (tx) => {
      await this.orders.lock(tx, orderId);
      const stored = await tx.findOneBy(Refund, { refundId, state: 'requested' });
      if (isClaimActive(stored?.claimedAt))
        throw new Error(`refund ${refundId} is being settled by a request`);
      if (stored !== null) await this.#claim(tx, stored);
      return stored;
    });
    if (refund !== null) await this.#settle(refund);
  }

  /**
   * Calls the gateway for a claimed refund, and stores the result.
   * @throws Failure 502 if the gateway returned no result: the refund can be settled again at once
   */
  async #settle(refund: Refund): Promise<RefundState> {
    try {
      return await this.#storeResult(refund, 'succeeded', await this.#callGateway(refund));
    } catch (error) {
      if (error instanceof GatewayRejectedError) return this.#storeResult(refund, 'rejected');
      refundsMetric.inc({ outcome: 'failed' });
      const { refundId, claimedAt } = refund;
      // The condition on `claimedAt` keeps a newer claim of another request.
      if (claimedAt !== null)
        await this.dataSource.manager.update(Refund, { refundId, claimedAt }, { claimedAt: null });
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }

  async #callGateway({ refundId, orderId, attemptId, amount, reason }: Refund): Promise<GatewayTransaction> {
    const order = await this.orders.findWithCustomer(orderId);
    // The gateway refunds only settled payments. A captured payment is cancelled to return it in full. The order's status is
    // already `cancel` if the response to an earlier call was lost and the gateway has sent its notification.
    if (['capture', 'cancel'].includes(order.status) && amount === order.grossAmount) {
      const transaction = await this.gateway.cancelOrExpire(attemptId, 'cancel');
      if (transaction?.transactionStatus === 'cancel') return transaction;
    }
    return this.gateway.refund(attemptId, { refundKey: refundId, amount, reason });
  }

  /** @returns the refund's state, which another request may have stored first */
  async #storeResult(
    { refundId, orderId }: Refund,
    state: 'succeeded' | 'rejected',
    response?: RefundResponse,
  ): Promise<RefundState> {
    const earlier = await this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const refund = await tx.findOneByOrFail(Refund, { refundId });
      if (refund.state !== 'requested') return refund.state;
      await tx.update(Refund, { refundId }, { state, claimedAt: null });
      if (response !== undefined) await this.#recordEvent(tx, order, refund, response);
      return null;
    });
    if (earlier === null) refundsMetric.inc({ outcome: state });
    return earlier ?? state;
  }

  /** Records the event of a refund whose row is stored as succeeded, so that `manualSum` includes a manual refund. */
  async #recordEvent(
    tx: EntityManager,
    order: Order,
    { attemptId, transactionId, gatewaySum }: Refund,
    { statusCode, payload }: RefundResponse,
  ): Promise<void> {
    const { orderId, grossAmount, refundedAmount, paymentType, fraudStatus } = order;
    const manualSum = await this.events.sumManualRefunds(tx, orderId, transactionId);
    await this.events.record(tx, order, {
      source: 'refund',
      status: Math.max(manualSum + gatewaySum, refundedAmount) >= grossAmount ? 'refund' : 'partial_refund',
      attemptId,
      transactionId,
      statusCode,
      grossAmount: order.transactionAmount ?? String(grossAmount),
      refundAmount: gatewaySum, // Like the amount in a notification, without manual refunds.
      paymentType,
      fraudStatus,
      payload,
    });
  }
}

function hashRequest({ amount, reason, manual }: RefundDto): Buffer {
  const canonical = [amount ?? null, reason ?? null, manual ?? false];
  return createHash('sha256').update(JSON.stringify(canonical)).digest();
}
