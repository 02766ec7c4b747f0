import { Injectable, type OnModuleInit } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource, type EntityManager } from 'typeorm';
import { failures } from '../common/errors.js';
import { refunds as refundsMetric } from '../common/metrics.js';
import { JobsService } from '../jobs/jobs.service.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { newRefund } from './new-refund.js';
import type { RefundDto } from './refund.dto.js';
import { Refund } from './refund.entity.js';
import { RefundSettlementService } from './refund-settlement.service.js';
import { RefundsRepository } from './refunds.repository.js';

const SETTLE_REFUND = 'settle-refund';
/** Longer than a request takes, so that the job has nothing to do unless the request failed. */
const SETTLE_AFTER_MS = 60_000;
const POLL_MS = 250;
const MAX_WAIT_MS = 10_000;

/** Refund whose result a request needs next. */
interface Step {
  readonly refund: Refund;
  /** False for an earlier refund of the order that has no result yet. */
  readonly isOwn: boolean;
  /** False if the refund has a result, or another request is calling the gateway. */
  readonly shouldCallGateway: boolean;
  readonly isNewManual?: true;
}

/**
 * Refunds orders. A refund is committed before the gateway is called, and settled afterwards (docs/decisions/19). An order
 * has at most one refund without a result. The next request settles that refund first, under the same `refund_key`.
 */
@Injectable()
export class RefundsService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly orders: OrdersService,
    private readonly refunds: RefundsRepository,
    private readonly settlement: RefundSettlementService,
  ) {}

  onModuleInit(): void {
    const settle = ({ refundId }: { refundId: string }): Promise<void> => this.#settleLater(refundId);
    this.jobs.handle(SETTLE_REFUND, settle, { kind: 'payments' });
  }

  /**
   * Refunds an order in full or in part.
   * @throws Failure 404; 409 if the order or its payment cannot be refunded, or the key was used with another request; 502
   */
  async refund(orderId: string, request: RefundDto): Promise<Order> {
    const order = await this.orders.findWithCustomer(orderId);
    for (;;) {
      const { refund, isOwn, shouldCallGateway, isNewManual } = await this.#begin(order.orderId, request);
      if (isNewManual === true) refundsMetric.inc({ outcome: 'manual' });
      const state = await (shouldCallGateway ? this.settlement.settle(refund) : this.#waitFor(refund));
      if (!isOwn) continue;
      if (state === 'rejected') throw failures.refundRejected();
      return this.orders.findWithCustomer(order.orderId);
    }
  }

  /** Claims the order's refund without a result. If there is none, stores and claims the requested refund. */
  #begin(orderId: string, request: RefundDto): Promise<Step> {
    const idempotencyKey = request['idempotency-key'];
    const digest = hashRequest(request);
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const repeated =
        idempotencyKey === undefined ? null : await this.refunds.find(tx, { orderId, idempotencyKey });
      if (repeated?.requestDigest.equals(digest) === false) throw failures.idempotencyKeyReused();
      if (repeated !== null && repeated.state !== 'requested')
        return { refund: repeated, isOwn: true, shouldCallGateway: false };

      const refund = await this.refunds.find(tx, { orderId, state: 'requested' });
      if (refund === null) return this.#create(tx, order, request, digest);
      const shouldCallGateway = !refund.isClaimed;
      if (shouldCallGateway) await this.refunds.claim(tx, refund);
      // The same request without a key, after a failure: a person presses the button again.
      const isRetry =
        idempotencyKey === undefined && shouldCallGateway && refund.requestDigest.equals(digest);
      return { refund, isOwn: isRetry || refund.refundId === repeated?.refundId, shouldCallGateway };
    });
  }

  async #create(tx: EntityManager, order: Order, request: RefundDto, digest: Buffer): Promise<Step> {
    const manualSum = await this.refunds.sumManual(tx, order.orderId, order.transactionId ?? '');
    const refund = newRefund(order, request, digest, manualSum);
    await tx.insert(Refund, refund);
    if (refund.isManual) {
      await this.settlement.recordManual(tx, order, refund);
      return { refund, isOwn: true, shouldCallGateway: false, isNewManual: true };
    }
    const { refundId } = refund;
    const job = { key: `${SETTLE_REFUND}:${refundId}`, runAt: new Date(Date.now() + SETTLE_AFTER_MS) };
    await this.jobs.enqueue(tx, SETTLE_REFUND, { refundId }, job);
    return { refund, isOwn: true, shouldCallGateway: true };
  }

  /** Waits for the request that has claimed a refund. @throws Failure 502 if that request got no result */
  async #waitFor({ refundId }: Refund): Promise<Refund['state']> {
    for (let waited = 0; waited < MAX_WAIT_MS; waited += POLL_MS) {
      const refund = await this.refunds.get(refundId);
      if (refund.state !== 'requested') return refund.state;
      if (!refund.isClaimed) break;
      await delay(POLL_MS);
    }
    throw failures.gatewayUnavailable();
  }

  /** Settles a refund whose request ended without a result, for example because the process died. */
  async #settleLater(refundId: string): Promise<void> {
    const { orderId } = await this.refunds.get(refundId);
    const refund = await this.dataSource.transaction(async (tx) => {
      await this.orders.lock(tx, orderId);
      const stored = await this.refunds.find(tx, { refundId, state: 'requested' });
      if (stored?.isClaimed === true) throw new Error(`refund ${refundId} is being settled by a request`);
      if (stored !== null) await this.refunds.claim(tx, stored);
      return stored;
    });
    if (refund !== null) await this.settlement.settle(refund);
  }
}

function hashRequest({ amount, reason, manual }: RefundDto): Buffer {
  const canonical = [amount ?? null, reason ?? null, manual ?? false];
  return createHash('sha256').update(JSON.stringify(canonical)).digest();
}
