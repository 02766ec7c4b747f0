import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { paymentReconciliations, type ReconciliationOutcome } from '../common/metrics.js';
import {
  GatewayRefusedError,
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
} from '../gateway/payment-gateway.js';
import { JobsService } from '../jobs/jobs.service.js';
import { OrdersService } from '../orders/orders.service.js';
import { eventOf, type PaymentEvent } from './payment-event.js';
import { PaymentEventsService } from './payment-events.service.js';
import { PaymentsRepository } from './payments.repository.js';

const FIND_DUE_ORDERS = 'find-due-orders';
const CHECK_ORDER = 'check-order';
const EVERY_MINUTE = '* * * * *';
const DUE_BATCH = 200;
/** An hour after the payment page has ended, and with it every way to pay. */
const EXPIRE_AFTER_MS = 25 * 60 * 60 * 1000;

interface CheckOrderPayload {
  readonly orderId: string;
}

/**
 * Asks the gateway about orders that stay pending, with growing gaps, so that a lost notification loses no sale
 * (docs/decisions/08). When an order is due stands in its row: no lost job can forget it.
 */
@Injectable()
export class ReconciliationService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly payments: PaymentsRepository,
    private readonly events: PaymentEventsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<object>(FIND_DUE_ORDERS, () => this.#findDue());
    this.jobs.repeat(FIND_DUE_ORDERS, EVERY_MINUTE);
    this.jobs.handle<CheckOrderPayload>(CHECK_ORDER, ({ orderId }) => this.#check(orderId), {
      kind: 'payments',
    });
  }

  /** Has the gateway asked about an order at once. */
  async checkSoon(tx: EntityManager, orderId: string): Promise<void> {
    const payload: CheckOrderPayload = { orderId };
    await this.jobs.enqueue(tx, CHECK_ORDER, payload, { key: `${CHECK_ORDER}:${orderId}` });
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
    try {
      const outcome = await this.#compare(orderId);
      paymentReconciliations.inc({ outcome });
    } catch (error) {
      paymentReconciliations.inc({ outcome: 'failed' });
      throw error;
    }
  }

  async #compare(orderId: string): Promise<ReconciliationOutcome> {
    const checkedFrom = await this.payments.lastAppliedId(orderId);
    const events = await this.#ask(orderId, (id) => this.gateway.status(id));
    const outcome = await this.dataSource.transaction((tx) => this.#record(tx, orderId, events, checkedFrom));
    const order = await this.orders.findPending(orderId);
    const isOld = order !== null && Date.now() - order.createdAt.getTime() >= EXPIRE_AFTER_MS;
    return isOld ? this.#expire(orderId) : outcome;
  }

  async #expire(orderId: string): Promise<ReconciliationOutcome> {
    const checkedFrom = await this.payments.lastAppliedId(orderId);
    const events = await this.#ask(orderId, (id) => this.#expireAtGateway(id));
    if (events.some(({ status }) => status === 'pending'))
      throw new GatewayUnavailableError('the gateway would not expire a payment that it says is pending');
    return this.dataSource.transaction(async (tx) => {
      const outcome = await this.#record(tx, orderId, events, checkedFrom);
      if (outcome === 'outdated') return outcome;
      const order = await this.orders.lock(tx, orderId);
      if (order?.status === 'pending')
        await this.events.close(tx, orderId, 'expire', 'reconciliation', 'not paid within 25 hours');
      // That it expired is our own doing and no news.
      return events.some(({ status }) => status !== 'expire') ? outcome : 'expired';
    });
  }

  /** A refusal means that the payment has ended, one way or the other: then its status says how. */
  async #expireAtGateway(id: string): Promise<GatewayTransaction | null> {
    try {
      return await this.gateway.expire(id);
    } catch (error) {
      if (error instanceof GatewayRefusedError) return this.gateway.status(id);
      throw error;
    }
  }

  /** What the gateway says of every id under which it may know the order. */
  async #ask(
    orderId: string,
    question: (attemptId: string) => Promise<GatewayTransaction | null>,
  ): Promise<PaymentEvent[]> {
    const attemptIds = await this.orders.gatewayIds(orderId);
    const answers = await Promise.all(
      attemptIds.map(async (id) => {
        const transaction = await question(id);
        return transaction === null ? [] : [eventOf(transaction, 'reconciliation', id)];
      }),
    );
    return answers.flat();
  }

  /**
   * Records what the gateway answered. An order that changed meanwhile is asked about again instead: the answer may
   * be older than the news.
   *
   * @param checkedFrom what had last changed the order when the gateway was asked
   * @returns `outdated` if they did not count any more, `found` if they were news
   */
  async #record(
    tx: EntityManager,
    orderId: string,
    events: readonly PaymentEvent[],
    checkedFrom: string | null,
  ): Promise<ReconciliationOutcome> {
    await this.orders.lock(tx, orderId);
    if ((await this.payments.lastAppliedId(orderId, tx)) !== checkedFrom) {
      await this.checkSoon(tx, orderId);
      return 'outdated';
    }
    let outcome: ReconciliationOutcome = 'unchanged';
    for (const event of events) {
      if ((await this.events.record(tx, event)) === 'applied') outcome = 'found';
    }
    return outcome;
  }
}
