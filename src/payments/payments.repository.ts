import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, Repository } from 'typeorm';
import type { KnownTransaction } from './notification-outcome.js';
import type { PaymentEvent } from './payment-event.js';
import { PaymentNotification } from './payment-notification.entity.js';

/** Notifications of one page of a history (decisions.md, Answers). */
const PAGE_SIZE = 50;

@Injectable()
export class PaymentsRepository {
  constructor(
    @InjectRepository(PaymentNotification) private readonly notifications: Repository<PaymentNotification>,
  ) {}

  /**
   * What is kept of an event's transaction; exact while the order is locked. A notification repeats an answer of the
   * gateway's whatever their status codes: an expired payment has 407 in the one and 202 in the other.
   */
  async history(
    tx: EntityManager,
    orderId: string,
    event: PaymentEvent,
  ): Promise<Pick<KnownTransaction, 'isRedelivery' | 'appliedStatuses'>> {
    const rows = await tx.query<Pick<KnownTransaction, 'isRedelivery' | 'appliedStatuses'>[]>(
      `SELECT
         coalesce(bool_or(transaction_status = $3 AND (status_code = $4 OR source <> 'notification')
                          AND gross_amount = $5 AND fraud_status IS NOT DISTINCT FROM $6), false) AS "isRedelivery",
         coalesce(array_agg(DISTINCT transaction_status) FILTER (WHERE outcome = 'applied'), '{}')
           AS "appliedStatuses"
       FROM payment_notifications WHERE order_id = $1 AND transaction_id = $2`,
      [orderId, event.transactionId, event.status, event.statusCode, event.grossAmount, event.fraudStatus],
    );
    return rows[0] ?? { isRedelivery: false, appliedStatuses: [] };
  }

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
