import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, Repository } from 'typeorm';
import type { TransactionHistory } from './notification-outcome.js';
import type { PaymentEvent } from './payment-event.js';
import { PaymentNotification } from './payment-notification.entity.js';

/** Notifications of one page of a history (decisions.md, Answers). */
const PAGE_SIZE = 50;

@Injectable()
export class PaymentsRepository {
  constructor(
    @InjectRepository(PaymentNotification) private readonly notifications: Repository<PaymentNotification>,
  ) {}

  /** What is kept of an event's transaction; exact while the order is locked. */
  async history(tx: EntityManager, orderId: string, event: PaymentEvent): Promise<TransactionHistory> {
    const rows = await tx.query<TransactionHistory[]>(
      `SELECT
         coalesce(bool_or(transaction_status = $3 AND status_code = $4 AND gross_amount = $5
                          AND fraud_status IS NOT DISTINCT FROM $6), false) AS "isRedelivery",
         coalesce(array_agg(DISTINCT transaction_status) FILTER (WHERE outcome = 'applied'), '{}')
           AS "appliedStatuses"
       FROM payment_notifications WHERE order_id = $1 AND transaction_id = $2`,
      [orderId, event.transactionId, event.status, event.statusCode, event.grossAmount, event.fraudStatus],
    );
    return rows[0] ?? { isRedelivery: false, appliedStatuses: [] };
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
