import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { createCounter } from '../common/observability/metrics.js';
import { JobsService } from '../jobs/jobs.service.js';
import { takeDueForCheck } from '../orders/due-checks.js';
import { isDeniedAsFraud } from '../orders/order-status.js';
import type { OrderRow } from '../orders/order.entity.js';
import { PaymentSyncService, type SyncOutcome } from './payment-sync.service.js';

const CHECK_ORDER = 'check-order';
/** Minutes until the further checks that `enqueueRepeatedChecks` enqueues. */
const FURTHER_CHECK_MINUTES = [1, 10, 360];

const paymentReconciliations = createCounter(
  'bakery_payment_reconciliations_total',
  'Checks of unpaid orders at the gateway; found: an update without a notification',
  'outcome',
  ['unchanged', 'found', 'expired', 'outdated', 'failed'],
);

/**
 * Asks the gateway about orders that stay unpaid, with growing gaps, so that a lost notification loses no sale
 * (docs/decisions/08). The order's row contains the time of the next check, so that a lost job does not end the checks.
 */
@Injectable()
export class ReconciliationService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly paymentSync: PaymentSyncService,
  ) {}

  onModuleInit(): void {
    this.jobs.repeat('find-due-orders', () => this.#enqueueDueChecks());
    this.jobs.handle<{ orderId: string }>(CHECK_ORDER, ({ orderId }) => this.#check(orderId), 'payments');
  }

  async #enqueueDueChecks(): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      for (const orderId of await takeDueForCheck(tx)) await this.#enqueueCheck(tx, orderId);
    });
  }

  /**
   * Enqueues checks of an order after a notification that was rejected or is unconfirmed: one now, and further ones later, because
   * the gateway's status API can report a payment later than its notification.
   */
  async enqueueRepeatedChecks(tx: EntityManager, orderId: string): Promise<void> {
    await this.#enqueueCheck(tx, orderId);
    for (const minutes of FURTHER_CHECK_MINUTES) {
      const runAt = new Date(Date.now() + minutes * 60_000);
      await this.jobs.enqueue(tx, CHECK_ORDER, { orderId }, { subject: `${orderId}:${minutes}`, runAt });
    }
  }

  async #enqueueCheck(manager: EntityManager, orderId: string): Promise<void> {
    await this.jobs.enqueue(manager, CHECK_ORDER, { orderId }, { subject: orderId });
  }

  async #check(orderId: string): Promise<void> {
    let outcome: SyncOutcome | 'failed' = 'failed';
    try {
      let checked = await this.paymentSync.sync(orderId, 'status');
      if (isDueToExpire(checked.order)) checked = await this.paymentSync.sync(orderId, 'expire');
      outcome = checked.outcome;
      // The order changed during the call, so the response may be older than the order.
      if (outcome === 'outdated') await this.#enqueueCheck(this.dataSource.manager, orderId);
    } finally {
      paymentReconciliations.inc({ outcome });
    }
  }
}

function isDueToExpire(order: OrderRow): boolean {
  const { status, fraudStatus, firstPaidAt } = order;
  const isUnpaid = status === 'pending' || order.isRetryable || isDeniedAsFraud(status, fraudStatus);
  return isUnpaid && firstPaidAt === null && Date.now() >= order.expiryDueAt.getTime();
}
