import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TransactionRequest, TransactionStatus } from '../payment-gateway.js';
import { signatureOf } from '../signature.js';

/** The fields of a payment that every message about it has, under the gateway's names. */
export interface Payment {
  readonly transaction_id: string;
  readonly transaction_time: string;
  readonly payment_type: string;
  /** Convenience stores are not screened for fraud. */
  readonly fraud_status?: string;
}

/** A notification that was sent to the shop. */
export interface SentNotification {
  readonly id: string;
  readonly status: TransactionStatus | null;
  /** Exactly as every try sends it. */
  readonly body: string;
  /** ISO 8601. */
  readonly sentAt: string;
  /** What the last try got, for example `HTTP 200`; null before the first answer. */
  readonly answer: string | null;
}

/** Status codes that are not 200. */
const CODES: Record<string, string> = { pending: '201', deny: '202', expire: '202', failure: '202' };

/** What the simulated gateway knows of an order. */
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

  /** Without a payment null, or `cancel` or `expire` when the page was ended before. */
  @Column('text', { name: 'transaction_status', nullable: true })
  status!: TransactionStatus | null;

  /** Null until a method is chosen. A denied payment may be followed by another one. */
  @Column('jsonb', { nullable: true })
  payment!: Payment | null;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** The last ones, oldest first. */
  @Column('jsonb', { default: () => "'[]'" })
  notifications!: readonly SentNotification[];

  /**
   * What the gateway says of the payment, in notifications and in its status API.
   * @param status the payment's own, or an earlier one that is told late
   * @see https://docs.midtrans.com/docs/https-notification-webhooks
   */
  message(status: TransactionStatus | null, serverKey: string) {
    const signed = {
      order_id: this.orderId,
      status_code: CODES[status ?? ''] ?? '200',
      gross_amount: `${this.grossAmount}.00`,
    };
    return {
      ...this.payment,
      transaction_status: status,
      ...signed,
      signature_key: signatureOf(signed, serverKey),
    };
  }
}
