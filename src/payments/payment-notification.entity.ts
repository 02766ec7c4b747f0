import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { EventSource, Outcome } from './payment-event.js';

/** A line of an order's history: what the gateway told or answered, as received, and what became of it. */
@Entity('payment_notifications')
export class PaymentNotification {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    primaryKeyConstraintName: 'payment_notifications_pkey',
  })
  id!: string;

  @Column('uuid', { name: 'order_id' })
  orderId!: string;

  @Column('text', { default: 'notification' })
  source!: EventSource;

  @Column('text')
  outcome!: Outcome | 'rejected';

  /** This and the next four are what a redelivery repeats; null when the notification was rejected. */
  @Column('text', { name: 'transaction_id', nullable: true })
  transactionId!: string | null;

  @Column('text', { name: 'transaction_status', nullable: true })
  transactionStatus!: string | null;

  @Column('text', { name: 'status_code', nullable: true })
  statusCode!: string | null;

  @Column('text', { name: 'gross_amount', nullable: true })
  grossAmount!: string | null;

  @Column('text', { name: 'fraud_status', nullable: true })
  fraudStatus!: string | null;

  /** The body as it arrived. */
  @Column('text')
  payload!: string;

  @Column('timestamptz', { name: 'received_at', default: () => 'now()' })
  receivedAt!: Date;
}
