import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, Repository } from 'typeorm';
import { PaymentNotification } from './payment-notification.entity.js';

/** Notifications of one page of a history. */
const PAGE_SIZE = 50;

/** A line of an order's history, before the database adds to it. */
type NewLine = Pick<PaymentNotification, 'orderId' | 'outcome' | 'payload'> & Partial<PaymentNotification>;

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

  /** Adds a line to the history of a locked order. */
  async keep(tx: EntityManager, line: NewLine): Promise<void> {
    // Unlike `tx.insert`, this does not read back what the database adds.
    await tx
      .createQueryBuilder()
      .insert()
      .into(PaymentNotification)
      .values(line)
      .updateEntity(false)
      .execute();
  }
}
