import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OrderStatus } from './order-status.js';

@Entity('orders')
export class Order {
  @PrimaryColumn('uuid', { name: 'order_id', primaryKeyConstraintName: 'orders_pkey' })
  orderId!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  @Column('text', { default: 'pending' })
  status!: OrderStatus;

  /** Whole rupiah, as PostgreSQL writes a bigint. */
  @Column('bigint', { name: 'gross_amount' })
  grossAmount!: string;

  /** The gateway's id of the transaction that the status comes from. */
  @Column('text', { name: 'transaction_id', nullable: true })
  transactionId!: string | null;

  /** The payment attempt of that transaction. */
  @Column('uuid', { name: 'attempt_id', nullable: true })
  attemptId!: string | null;

  @Column('text', { name: 'payment_type', nullable: true })
  paymentType!: string | null;

  @Column('text', { name: 'fraud_status', nullable: true })
  fraudStatus!: string | null;

  /** The amount as the gateway's last notification stated it. */
  @Column('text', { name: 'transaction_amount', nullable: true })
  transactionAmount!: string | null;

  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt!: Date | null;

  /** Given by the client that made the order; unique for its user. */
  @Column('varchar', { name: 'idempotency_key', length: 255, nullable: true })
  idempotencyKey!: string | null;

  /** SHA-256 of what was ordered, to tell a repetition from another request under the same key. */
  @Column('bytea', { name: 'request_digest', nullable: true })
  requestDigest!: Buffer | null;

  /** How often the gateway was asked about it. */
  @Column('smallint', { default: 0 })
  checks!: number;

  /** When the gateway is to be asked about it, if it is pending still. */
  @Column('timestamptz', { name: 'next_check_at', default: () => "now() + interval '5 minutes'" })
  nextCheckAt!: Date;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;
}
