import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, Repository } from 'typeorm';
import type { OrderStatus } from '../orders/order-status.js';
import type { PaymentEvent } from './payment-event.js';
import { PaymentNotification } from './payment-notification.entity.js';

/** What is kept of a transaction when news of it arrives. */
export interface TransactionHistory {
  /** A notification of it said just the same. */
  readonly wasNotified: boolean;
  /** An answer of the gateway's said the same, whatever its status code: `expire` has 407 there, 202 when notified. */
  readonly wasAnswered: boolean;
  /** Statuses of it that were applied. */
  readonly appliedStatuses: readonly OrderStatus[];
}

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
         coalesce(bool_or(source = 'notification' AND transaction_status = $3 AND status_code = $4
                          AND gross_amount = $5 AND fraud_status IS NOT DISTINCT FROM $6), false) AS "wasNotified",
         coalesce(bool_or(source <> 'notification' AND transaction_status = $3
                          AND gross_amount = $5 AND fraud_status IS NOT DISTINCT FROM $6), false) AS "wasAnswered",
         coalesce(array_agg(DISTINCT transaction_status) FILTER (WHERE outcome = 'applied'), '{}')
           AS "appliedStatuses"
       FROM payment_notifications WHERE order_id = $1 AND transaction_id = $2`,
      [orderId, event.transactionId, event.status, event.statusCode, event.grossAmount, event.fraudStatus],
    );
    return rows[0] ?? { wasNotified: false, wasAnswered: false, appliedStatuses: [] };
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
