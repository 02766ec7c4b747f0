import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { TransactionStatus } from './transitions.js';

/** `status` tells of a change; the others are sent to see how a receiver takes them. */
export type NotificationKind = 'status' | 'again' | 'late' | 'bad-signature';

/** One try to deliver a notification. */
export interface DeliveryAttempt {
  /** ISO 8601. */
  readonly at: string;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** Why there was no answer. */
  readonly problem: string | null;
}

/** A notification, its body exactly as every attempt sends it. */
@Entity('simulator_notifications')
export class SimulatorNotification {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    primaryKeyConstraintName: 'simulator_notifications_pkey',
  })
  id!: string;

  @Column('text', { name: 'order_id' })
  orderId!: string;

  @Column('text')
  kind!: NotificationKind;

  @Column('text', { name: 'transaction_status' })
  transactionStatus!: TransactionStatus;

  @Column('text')
  body!: string;

  /** At most six: the gateway retries five times. */
  @Column('jsonb', { default: () => "'[]'" })
  attempts!: readonly DeliveryAttempt[];

  /** Null: acknowledged or given up. */
  @Column('timestamptz', { name: 'next_attempt_at', nullable: true })
  nextAttemptAt!: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}
