import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TransactionRequest, TransactionStatus } from '../payment-gateway.js';

/** `status` tells of a change; the others are sent to see how the shop takes them. */
export type NotificationKind = 'status' | 'again' | 'late' | 'bad-signature';

/** A notification that was sent to the shop. */
export interface SentNotification {
  readonly id: string;
  readonly kind: NotificationKind;
  readonly status: TransactionStatus;
  /** Exactly as every try sends it. */
  readonly body: string;
  /** ISO 8601. */
  readonly sentAt: string;
  /** What became of the last try, for example `HTTP 200`; null before the first. */
  readonly answer: string | null;
}

/** What the simulated gateway knows of an order. The payment's own columns are null until a method is chosen. */
@Entity('simulator_transactions')
export class SimulatorTransaction {
  @PrimaryColumn('text', { name: 'order_id', primaryKeyConstraintName: 'simulator_transactions_pkey' })
  orderId!: string;

  /** Unguessable: who has it may act for the customer, the bank and the gateway. */
  @Column('text')
  token!: string;

  /** Whole rupiah, as PostgreSQL writes a bigint. */
  @Column('bigint', { name: 'gross_amount' })
  grossAmount!: string;

  @Column('jsonb')
  items!: TransactionRequest['items'];

  @Column('jsonb')
  customer!: TransactionRequest['customer'];

  /** A denied payment may be followed by another one, with another id. */
  @Column('uuid', { name: 'transaction_id', nullable: true })
  transactionId!: string | null;

  /** Without a method null, or `cancel` or `expire` when the page was ended before. */
  @Column('text', { name: 'transaction_status', nullable: true })
  transactionStatus!: TransactionStatus | null;

  @Column('text', { name: 'payment_type', nullable: true })
  paymentType!: string | null;

  /** The fields that a notification has because of its payment type, in the gateway's names. */
  @Column('jsonb', { name: 'payment_details', nullable: true })
  paymentDetails!: Readonly<Record<string, unknown>> | null;

  /** Null also for a payment type that has none. */
  @Column('text', { name: 'fraud_status', nullable: true })
  fraudStatus!: string | null;

  @Column('timestamptz', { name: 'transaction_time', nullable: true })
  transactionTime!: Date | null;

  @Column('timestamptz', { name: 'settlement_time', nullable: true })
  settlementTime!: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** The last ones, oldest first. */
  @Column('jsonb', { default: () => "'[]'" })
  notifications!: readonly SentNotification[];
}

/** A transaction whose payment method was chosen. */
export type ChosenTransaction = SimulatorTransaction & {
  readonly [
    K in 'transactionId' | 'transactionStatus' | 'paymentType' | 'paymentDetails' | 'transactionTime'
  ]: NonNullable<SimulatorTransaction[K]>;
};

/** The table's check holds the columns together. */
export function isChosen(transaction: SimulatorTransaction): transaction is ChosenTransaction {
  return transaction.transactionId !== null;
}
