import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { JobsService } from '../jobs/jobs.service.js';
import { EXPIRY_DUE_AT, inSql, isDeniedAsFraud, OPEN_STATUSES } from '../orders/order-status.js';
import type { OrderRow } from '../orders/order.entity.js';
import { PaymentSyncService } from './payment-sync.service.js';
import { paymentReconciliations, type ReconciliationOutcome } from './payments.metrics.js';

const CHECK_ORDER = 'check-order';
/** Minutes until the further checks that `enqueueRepeatedChecks` enqueues. */
const FURTHER_CHECK_MINUTES = [1, 10, 360];

/** Payment that is authorized or in review. */
const IS_UNDECIDED = "(o.status = 'authorize' OR o.status = 'capture' AND o.fraud_status = 'challenge')";

/**
 * Orders to ask the gateway about: orders that were never paid and not cancelled, and orders whose payment is authorized or in
 * review. The index `orders_next_check_at_idx` has the same condition.
 */
const NEEDS_CHECKS = `(o.first_paid_at IS NULL AND o.status IN ${inSql(OPEN_STATUSES)} OR ${IS_UNDECIDED})`;

/**
 * Orders that are pending, authorized or in review are checked without end. The checks of an order with the status `expire` end
 * 10 minutes after the expiry, those of any other order 7 days after the expiry.
 */
const HAS_CHECKS_LEFT = `(o.status = 'pending' OR ${IS_UNDECIDED} OR ${EXPIRY_DUE_AT} >
  now() - CASE o.status WHEN 'expire' THEN interval '10 minutes' ELSE interval '7 days' END)`;

/** Gap between two checks, which doubles from 5 minutes to 6 hours. The cap of the exponent prevents an overflow. */
const GAP = `least(interval '5 minutes' * 2 ^ least(o.checks, 10), interval '6 hours')`;

/** Time of the check at the expiry of an order; NULL afterwards. */
const CHECK_AT_EXPIRY = `CASE WHEN ${EXPIRY_DUE_AT} > now() THEN ${EXPIRY_DUE_AT} END`;

/**
 * Takes at most 200 orders that are due for a check, and schedules the next check of each. The cap of `checks`
 * prevents an overflow of the column. SQL, because TypeORM cannot update rows that a subquery locks with SKIP LOCKED.
 */
const TAKE_DUE = `
  UPDATE orders AS o SET checks = least(o.checks + 1, 100), next_check_at = least(now() + ${GAP}, ${CHECK_AT_EXPIRY})
  WHERE order_id IN (
    SELECT order_id FROM orders AS o WHERE ${NEEDS_CHECKS} AND next_check_at <= now() AND ${HAS_CHECKS_LEFT}
    ORDER BY next_check_at LIMIT 200 FOR UPDATE SKIP LOCKED)
  RETURNING order_id`;

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
      const [due] = await tx.query<[{ order_id: string }[], number]>(TAKE_DUE);
      for (const { order_id } of due) await this.#enqueueCheck(tx, order_id);
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
    let outcome: ReconciliationOutcome = 'failed';
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
