import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, Repository } from 'typeorm';
import { PaymentNotification } from './payment-notification.entity.js';

const PAGE_SIZE = 50;

type NewEvent = Pick<PaymentNotification, 'orderId' | 'outcome' | 'payload'> & Partial<PaymentNotification>;

/** Payment history of orders. */
@Injectable()
export class PaymentsRepository {
  constructor(
    @InjectRepository(PaymentNotification) private readonly notifications: Repository<PaymentNotification>,
  ) {}

  findByTransaction(tx: EntityManager, orderId: string, transactionId: string) {
    return tx.findBy(PaymentNotification, { orderId, transactionId });
  }

  /** Id of the last event that changed an order; null if there is none. */
  async lastAppliedId(orderId: string, tx = this.notifications.manager): Promise<string | null> {
    const where = { orderId, outcome: 'applied' } as const;
    const last = await tx.findOne(PaymentNotification, {
      where,
      order: { id: 'DESC' },
      select: { id: true },
    });
    return last?.id ?? null;
  }

  /** Returns a page of an order's events, oldest first. */
  page(orderId: string, afterId: number): Promise<PaymentNotification[]> {
    const where = { orderId, id: MoreThan(String(afterId)) };
    return this.notifications.find({ where, order: { id: 'ASC' }, take: PAGE_SIZE });
  }

  async insert(tx: EntityManager, event: NewEvent): Promise<void> {
    await tx.insert(PaymentNotification, event);
  }
}
