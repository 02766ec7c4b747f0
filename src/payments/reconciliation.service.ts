import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { paymentReconciliations, type ReconciliationOutcome } from '../common/metrics.js';
import { JobsService } from '../jobs/jobs.service.js';
import { OrdersService } from '../orders/orders.service.js';
import { PaymentEventsService } from './payment-events.service.js';

const FIND_DUE_ORDERS = 'find-due-orders';
const CHECK_ORDER = 'check-order';
const EVERY_MINUTE = '* * * * *';
const DUE_BATCH = 200;
/** An hour after the payment page has ended, and with it every way to pay. */
const EXPIRE_AFTER_MS = 25 * 60 * 60 * 1000;

/**
 * Asks the gateway about orders that stay pending, with growing gaps, so that a lost notification loses no sale
 * (docs/decisions/08). When an order is due stands in its row: no lost job can forget it.
 */
@Injectable()
export class ReconciliationService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<object>(FIND_DUE_ORDERS, () => this.#findDue());
    this.jobs.repeat(FIND_DUE_ORDERS, EVERY_MINUTE);
    const kind = 'payments';
    this.jobs.handle<{ orderId: string }>(CHECK_ORDER, ({ orderId }) => this.#check(orderId), { kind });
  }

  /** Has the gateway asked about an order at once. */
  async checkSoon(tx: EntityManager, orderId: string): Promise<void> {
    await this.jobs.enqueue(tx, CHECK_ORDER, { orderId }, { key: `${CHECK_ORDER}:${orderId}` });
  }

  async #findDue(): Promise<void> {
    let found: number;
    do {
      found = await this.dataSource.transaction(async (tx) => {
        const orderIds = await this.orders.takeDueForCheck(tx, DUE_BATCH);
        for (const orderId of orderIds) await this.checkSoon(tx, orderId);
        return orderIds.length;
      });
    } while (found === DUE_BATCH);
  }

  async #check(orderId: string): Promise<void> {
    let outcome: ReconciliationOutcome = 'failed';
    try {
      const asked = await this.events.ask(orderId, 'status');
      const isOld = Date.now() - (asked.order?.createdAt.getTime() ?? NaN) >= EXPIRE_AFTER_MS;
      const isExpiring = isOld && asked.order?.status === 'pending';
      ({ outcome } = isExpiring ? await this.events.ask(orderId, 'expire') : asked);
      if (outcome === 'outdated') await this.checkSoon(this.dataSource.manager, orderId);
    } finally {
      paymentReconciliations.inc({ outcome });
    }
  }
}
