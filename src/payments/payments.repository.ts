import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, Repository } from 'typeorm';
import type { Outcome, PaymentEvent } from './payment-event.js';
import { PaymentNotification } from './payment-notification.entity.js';

/** Notifications of one page of a history. */
const PAGE_SIZE = 50;

/** What is kept of an order's payment. */
@Injectable()
export class PaymentsRepository {
  constructor(
    @InjectRepository(PaymentNotification) private readonly notifications: Repository<PaymentNotification>,
  ) {}

  /** What is kept of one transaction of an order. */
  historyOf(tx: EntityManager, orderId: string, transactionId: string): Promise<PaymentNotification[]> {
    return tx.findBy(PaymentNotification, { orderId, transactionId });
  }

  /** Id of what last changed an order; null when nothing has. */
  async lastAppliedId(
    orderId: string,
    tx: EntityManager = this.notifications.manager,
  ): Promise<string | null> {
    const last = await tx.findOne(PaymentNotification, {
      where: { orderId, outcome: 'applied' },
      order: { id: 'DESC' },
      select: { id: true },
    });
    return last?.id ?? null;
  }

  /** What is kept of an order after a notification, oldest first. */
  page(orderId: string, afterId: number): Promise<PaymentNotification[]> {
    return this.notifications.find({
      where: { orderId, id: MoreThan(String(afterId)) },
      order: { id: 'ASC' },
      take: PAGE_SIZE,
    });
  }

  /** Keeps an event of a locked order, with what became of it. */
  async keep(tx: EntityManager, orderId: string, outcome: Outcome, event: PaymentEvent): Promise<void> {
    const { source, transactionId, status, statusCode, grossAmount, fraudStatus, payload } = event;
    await tx.insert(PaymentNotification, {
      orderId,
      source,
      outcome,
      transactionId,
      transactionStatus: status,
      statusCode,
      grossAmount,
      fraudStatus,
      payload,
    });
  }

  /** Keeps a notification that the gateway signed and that we cannot read. */
  async keepRejected(tx: EntityManager, orderId: string, payload: string): Promise<void> {
    await tx.insert(PaymentNotification, { orderId, outcome: 'rejected', payload });
  }

  /** Keeps why an order was ended of which the gateway has no transaction. */
  async keepEnd(
    tx: EntityManager,
    orderId: string,
    source: PaymentEvent['source'],
    status: 'cancel' | 'expire',
    reason: string,
  ): Promise<void> {
    const payload = JSON.stringify({ reason });
    await tx.insert(PaymentNotification, {
      orderId,
      source,
      outcome: 'applied',
      transactionStatus: status,
      payload,
    });
  }
}
