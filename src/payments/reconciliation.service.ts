import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { GatewayRefusedError, type GatewayTransaction, PaymentGateway } from '../gateway/payment-gateway.js';
import { JobsService } from '../jobs/jobs.service.js';
import { isCompleted } from '../orders/order-status.js';
import { OrdersService, type PendingOrder } from '../orders/orders.service.js';
import { eventOf } from './payment-event.js';
import { PaymentEventsService } from './payment-events.service.js';

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
 * (decisions.md, Payment notifications). When an order is due stands in its row: no lost job can forget it.
 */
@Injectable()
export class ReconciliationService implements OnModuleInit {
  readonly #logger = new Logger('Reconciliation');

  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<object>(FIND_DUE_ORDERS, () => this.#findDue());
    this.jobs.repeat(FIND_DUE_ORDERS, EVERY_MINUTE);
    this.jobs.handle<CheckOrderPayload>(CHECK_ORDER, ({ orderId }) => this.#check(orderId));
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
    const order = await this.orders.findPending(orderId);
    if (order === null) return;
    await this.#record(orderId, await this.#ask((id) => this.gateway.status(id), order));
    if (Date.now() - order.createdAt.getTime() >= EXPIRE_AFTER_MS) await this.#expire(order);
  }

  async #expire(order: PendingOrder): Promise<void> {
    if ((await this.orders.findPending(order.orderId)) === null) return;
    const expired = await this.#ask((id) => this.#expireAtGateway(id), order);
    await this.#record(order.orderId, expired);
    await this.dataSource.transaction(async (tx) => {
      const locked = await this.orders.lock(tx, order.orderId);
      if (locked?.status !== 'pending') return;
      await this.events.close(tx, order.orderId, 'expire', 'reconciliation', 'not paid within 25 hours');
    });
    this.#logger.log(`order ${order.orderId} was settled 25 hours after its creation`);
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
    question: (gatewayId: string) => Promise<GatewayTransaction | null>,
    { orderId }: PendingOrder,
  ): Promise<GatewayTransaction[]> {
    const answers = await Promise.all((await this.orders.gatewayIds(orderId)).map(question));
    return answers.filter((answer) => answer !== null);
  }

  async #record(orderId: string, transactions: readonly GatewayTransaction[]): Promise<void> {
    if (transactions.length === 0) return;
    const events = transactions.map((transaction) => eventOf(transaction, 'reconciliation'));
    // If one of several attempts was paid, that is what the order ends with.
    events.sort((a, b) => Number(isCompleted(a.status)) - Number(isCompleted(b.status)));
    await this.dataSource.transaction(async (tx) => {
      if ((await this.orders.lock(tx, orderId)) === null) return;
      for (const event of events) await this.events.record(tx, orderId, event);
    });
  }
}
