import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { failures } from '../common/errors/failures.js';
import { createCounter } from '../common/observability/metrics.js';
import { Lease } from '../database/lease.js';
import {
  CALL_DEADLINE_MS,
  GatewayRejectedError,
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
} from '../gateway/payment-gateway.js';
import { JobsService } from '../jobs/jobs.service.js';
import { type LockedOrder, OrdersService } from '../orders/orders.service.js';
import { PaymentEvent } from './payment-event.entity.js';
import { PaymentHistoryService } from './payment-history.service.js';
import { Refund } from './refund.entity.js';

/** Name of the task in version 1.2, whose waiting jobs this version runs. */
export const COMPLETE_REFUND = 'settle-refund';

/** A completion can cancel a captured payment and, if the gateway rejects that, refund it. Each makes at most two calls. */
const lease = new Lease(Refund, 4 * CALL_DEADLINE_MS);

const refundOutcomes = createCounter(
  'bakery_refunds_total',
  'Refunds by outcome; manual: made outside of the gateway; rejected: the gateway cannot refund the payment; failed: ' +
    'the gateway is unavailable, and the job retries',
  'outcome',
  ['succeeded', 'manual', 'rejected', 'failed'],
);

/** Gives stored refunds their result: success, or a rejection by the gateway or an operator. */
@Injectable()
export class RefundCompletionService implements OnModuleInit {
  readonly #logger = new Logger('Refunds');

  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly jobs: JobsService,
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<{ refundId: string }>(COMPLETE_REFUND, (job) => this.complete(job.refundId), 'payments');
  }

  /**
   * Completes a refund, or waits for the request or job that completes it. Returns the refund with its result.
   * @throws Failure 502 if the gateway returned no result: the refund can be completed later
   */
  async complete(refundId: string): Promise<Refund> {
    const { manager } = this.dataSource;
    const find = () => manager.findOneByOrFail(Refund, { refundId });
    const leaseId = await lease.take(manager, { refundId, state: 'requested' });
    // Stores a result, unless the lease expired during the call and the next holder has stored one.
    if (leaseId !== null) await this.#callAndStore(await find(), leaseId);
    const completed = await lease.waitForResult(manager, { refundId }, async () => {
      const refund = await find();
      return refund.state === 'requested' ? null : refund;
    });
    if (completed === null) throw failures.gatewayUnavailable();
    return completed;
  }

  async #callAndStore(refund: Refund, leaseId: string): Promise<void> {
    const { refundId } = refund;
    try {
      const response = await this.#callGateway(refund);
      await this.#storeResult(refund, (tx, order) => this.storeSuccess(tx, order, refund, response));
    } catch (error) {
      if (error instanceof GatewayRejectedError) {
        await this.#storeRejection(refund, error.reason);
        return;
      }
      refundOutcomes.inc({ outcome: 'failed' });
      await lease.endAfterError(this.dataSource.manager, { refundId }, leaseId, error);
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }

  async #callGateway(refund: Refund): Promise<GatewayTransaction> {
    const { refundId, transactionId, amount, reason } = refund;
    const order = await this.orders.findOrFail(refund.orderId);
    const { transactions } = await this.history.read(order);
    const status = transactions.find((known) => known.transactionId === transactionId)?.status ?? '';
    // The gateway refunds only settled payments. A captured payment is cancelled to return it in full. The status is already
    // `cancel` if the response to an earlier call was lost and the gateway has sent its notification.
    if (['capture', 'cancel'].includes(status) && amount === order.grossAmount) {
      const transaction = await this.gateway.cancelOrExpire(transactionId, 'cancel');
      if (transaction?.transactionStatus === 'cancel') return transaction;
    }
    return this.gateway.refund(transactionId, { refundKey: refundId, amount, reason });
  }

  /**
   * Ends a refund that the gateway never answers. An operator has found that the gateway did not make the refund. Takes the
   * lease, so that nobody calls the gateway meanwhile.
   * @returns false if there is no refund with this id that waits for a result
   * @throws Error while a request or job calls the gateway
   */
  async reject(refundId: string, reason: string): Promise<boolean> {
    const { manager } = this.dataSource;
    const refund = await manager.findOneBy(Refund, { refundId, state: 'requested' });
    if (refund === null) return false;
    if ((await lease.take(manager, { refundId, state: 'requested' })) === null)
      throw new Error(`refund ${refundId}: the gateway is being called now; try again in a minute`);
    await this.#storeRejection(refund, reason);
    return true;
  }

  /** Stores a result, unless another request or job stored one first, because the lease expired during the call. */
  async #storeResult(
    { orderId, refundId }: Refund,
    store: (tx: EntityManager, order: LockedOrder) => Promise<void>,
  ): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      if (await tx.existsBy(Refund, { refundId, state: 'requested' })) await store(tx, order);
    });
  }

  async #storeRejection(refund: Refund, rejection: string): Promise<void> {
    const { orderId, refundId, transactionId, amount, reason } = refund;
    await this.#storeResult(refund, async (tx) => {
      await tx.update(Refund, { refundId }, { state: 'rejected', leaseId: null, leasedAt: null, rejection });
      const payload = JSON.stringify({ refund_key: refundId, amount, reason, rejection });
      await tx.insert(PaymentEvent, {
        orderId,
        source: 'refund',
        outcome: 'rejected',
        transactionId,
        payload,
      });
      this.#logger.warn(`refund ${refundId} of order ${orderId} was rejected: ${rejection}`);
      refundOutcomes.inc({ outcome: 'rejected' });
    });
  }

  /** Stores the success of a refund that has no result yet. */
  async storeSuccess(
    tx: EntityManager,
    order: LockedOrder,
    refund: Refund,
    { statusCode, payload }: Pick<GatewayTransaction, 'statusCode' | 'payload'>,
  ): Promise<void> {
    const { orderId, refundId, attemptId, transactionId, amount, reason, userId } = refund;
    // No request has returned this result yet. A row of version 1.2 has the default of the column, `true`.
    const result = { state: 'succeeded', leaseId: null, leasedAt: null, isAnswered: false } as const;
    await tx.update(Refund, { refundId }, result);
    const { transactions } = await this.history.read(order, tx);
    const known = transactions.find((other) => other.transactionId === transactionId);
    const manualSum = (known?.manualRefunds ?? 0) + (refund.isManual ? amount : 0);
    // A sum that has grown, but does not reach this refund, contains only refunds that were made on the gateway's dashboard.
    const knownSum = known?.gatewayRefunds ?? 0;
    const gatewaySum = knownSum < refund.gatewaySum ? knownSum + amount : refund.gatewaySum;
    const event = {
      source: 'refund',
      attemptId,
      transactionId,
      status: manualSum + gatewaySum >= order.grossAmount ? 'refund' : 'partial_refund',
      statusCode,
      grossAmount: known?.grossAmount ?? String(order.grossAmount),
      fraudStatus: known?.fraudStatus ?? null,
      refundAmount: gatewaySum, // Like the amount in a notification, without manual refunds.
      payload,
    } as const;
    const outcome = await this.history.record(tx, order, event);
    refundOutcomes.inc({ outcome: refund.isManual ? 'manual' : 'succeeded' });
    // The payment was refunded in full without this refund, for example on the gateway's dashboard.
    if (outcome === 'late' && !payload.includes(refundId)) return;
    await this.orders.recordAction(tx, { orderId, action: 'refund', userId, amount, reason });
  }
}
