import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { TransactionHistory } from './notification-outcome.js';
import { PaymentNotification } from './payment-notification.entity.js';
import type { PaymentNotificationDto } from './payments.dto.js';

@Injectable()
export class PaymentsRepository {
  /** What is kept of a notification's transaction; exact while the order is locked. */
  async history(tx: EntityManager, notification: PaymentNotificationDto): Promise<TransactionHistory> {
    const rows = await tx.query<TransactionHistory[]>(
      `SELECT
         coalesce(bool_or(transaction_status = $3 AND status_code = $4 AND gross_amount = $5 AND fraud_status = $6), false)
           AS "isRedelivery",
         coalesce(array_agg(DISTINCT transaction_status) FILTER (WHERE outcome = 'applied'), '{}')
           AS "appliedStatuses"
       FROM payment_notifications WHERE order_id = $1 AND transaction_id = $2`,
      [
        notification.order_id,
        notification.transaction_id,
        notification.transaction_status,
        notification.status_code,
        notification.gross_amount,
        notification.fraud_status,
      ],
    );
    return rows[0] ?? { isRedelivery: false, appliedStatuses: [] };
  }

  async keep(
    tx: EntityManager,
    notification: Pick<PaymentNotification, 'orderId' | 'outcome' | 'payload'> & Partial<PaymentNotification>,
  ): Promise<void> {
    await tx.insert(PaymentNotification, notification);
  }
}
