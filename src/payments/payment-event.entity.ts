import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { TransactionStatus } from '../gateway/payment-gateway.js';

/** `reconciliation`: the expiry of an order, or a status that the gateway reported when the service asked for it. */
export const EVENT_SOURCES = ['notification', 'reconciliation', 'cancellation', 'refund'] as const;
type PaymentEventSource = (typeof EVENT_SOURCES)[number];

/**
 * `applied`: has changed its transaction, or ended the order. `duplicate`: its transaction was like this already. `late`: its
 * transaction has come further. `rejected`: a signed notification that is invalid or implausible, or a refund that the gateway
 * or an operator rejected. `unconfirmed`: money for an order that has ended, which counts once the gateway's status API confirms
 * it.
 */
export const OUTCOMES = ['applied', 'duplicate', 'late', 'rejected', 'unconfirmed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Entry in the payment history of an order: new status of a transaction, or the end of the order by the service. */
@Entity('payment_notifications')
export class PaymentEvent {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    primaryKeyConstraintName: 'payment_notifications_pkey',
  })
  id!: number;

  @Column('uuid', { name: 'order_id' })
  orderId!: string;

  @Column('text', { default: 'notification' })
  source!: PaymentEventSource;

  @Column('text')
  outcome!: Outcome;

  @Column('uuid', { name: 'attempt_id', nullable: true })
  attemptId: string | null = null;

  /** Null in a rejected notification, and in an event with which the service itself ends the order. */
  @Column('text', { name: 'transaction_id', nullable: true })
  transactionId: string | null = null;

  /** Null in a rejected event. */
  @Column('text', { name: 'transaction_status', nullable: true })
  status: TransactionStatus | null = null;

  /** Null in a rejected event, and in an event with which the service itself ends the order, like the next two columns. */
  @Column('text', { name: 'status_code', nullable: true })
  statusCode: string | null = null;

  @Column('text', { name: 'gross_amount', nullable: true })
  grossAmount: string | null = null;

  @Column('text', { name: 'fraud_status', nullable: true })
  fraudStatus: string | null = null;

  /** Sum of the transaction's refunds at the gateway, in whole rupiah; null if the event does not say. */
  @Column('bigint', { name: 'refund_amount', nullable: true })
  refundAmount: number | null = null;

  /** Body as received. JSON that the service wrote if the event is not from the gateway. */
  @Column('text')
  payload!: string;

  @Column('timestamptz', { name: 'received_at', default: () => 'now()' })
  receivedAt!: Date;
}
