import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, Repository } from 'typeorm';
import { PaymentNotification } from './payment-notification.entity.js';
import { Refund } from './refund.entity.js';

const PAGE_SIZE = 50;

/** Payment history of orders. */
@Injectable()
export class PaymentsRepository {
  constructor(
    @InjectRepository(PaymentNotification) private readonly notifications: Repository<PaymentNotification>,
  ) {}

  /** Returns the id of the last event that changed an order; null if there is none. */
  async findLastAppliedId(orderId: string, tx = this.notifications.manager): Promise<string | null> {
    const where = { orderId, outcome: 'applied' } as const;
    const last = await tx.findOne(PaymentNotification, { where, order: { id: 'DESC' } });
    return last?.id ?? null;
  }

  /** Returns a page of an order's events, oldest first. */
  page(orderId: string, afterId: number): Promise<PaymentNotification[]> {
    const where = { orderId, id: MoreThan(String(afterId)) };
    return this.notifications.find({ where, order: { id: 'ASC' }, take: PAGE_SIZE });
  }

  /** Sums up the refunds of a transaction that were made outside of the gateway. */
  async sumManualRefunds(tx: EntityManager, orderId: string, transactionId: string): Promise<number> {
    const where = { orderId, transactionId, isManual: true, state: 'succeeded' } as const;
    return (await tx.sum(Refund, 'amount', where)) ?? 0;
  }
}
