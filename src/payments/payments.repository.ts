import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, Repository } from 'typeorm';
import { PaymentNotification } from './payment-notification.entity.js';

/** Notifications of one page of a history (decisions.md, Answers). */
const PAGE_SIZE = 50;

@Injectable()
export class PaymentsRepository {
  constructor(
    @InjectRepository(PaymentNotification) private readonly notifications: Repository<PaymentNotification>,
  ) {}

  /** Id of what last changed an order; null when nothing has. */
  async lastAppliedId(
    orderId: string,
    tx: EntityManager = this.notifications.manager,
  ): Promise<string | null> {
    const rows = await tx.query<{ id: string | null }[]>(
      `SELECT max(id) AS id FROM payment_notifications WHERE order_id = $1 AND outcome = 'applied'`,
      [orderId],
    );
    return rows[0]?.id ?? null;
  }

  /** What is kept of an order after a notification, oldest first. */
  page(orderId: string, afterId: number): Promise<PaymentNotification[]> {
    return this.notifications.find({
      where: { orderId, id: MoreThan(String(afterId)) },
      order: { id: 'ASC' },
      take: PAGE_SIZE,
    });
  }

  async keep(
    tx: EntityManager,
    notification: Pick<PaymentNotification, 'orderId' | 'outcome' | 'payload'> & Partial<PaymentNotification>,
  ): Promise<void> {
    await tx.insert(PaymentNotification, notification);
  }
}
