import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { bigintAsNumber } from '../common/bigint-as-number.js';

/** `reconciliation`: the expiry of an order, or a status that the gateway reported when the service asked for it. */
export const EVENT_SOURCES = ['notification', 'reconciliation', 'cancellation', 'refund'] as const;
export type EventSource = (typeof EVENT_SOURCES)[number];

/** Only `applied` events have changed the order (docs/architecture.md). */
export const OUTCOMES = ['applied', 'duplicate', 'late', 'rejected'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Entry in the payment history of an order. The table also contains payment events that are not notifications. */
@Entity('payment_notifications')
export class StoredPaymentEvent {
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
  outcome!: Outcome;

  /** This and the next five columns identify a redelivery. They are null in a rejected notification. */
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

  /** Sum of the refunds at the gateway, in whole rupiah. */
  @Column('bigint', { name: 'refund_amount', nullable: true, transformer: bigintAsNumber })
  refundAmount!: number | null;

  /** Body as received. JSON that the service wrote if the event is not from the gateway. */
  @Column('text')
  payload!: string;

  @Column('timestamptz', { name: 'received_at', default: () => 'now()' })
  receivedAt!: Date;
}
