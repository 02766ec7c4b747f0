import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TransactionRequest, TransactionStatus } from '../payment-gateway.js';
import { computeSignature } from '../signature.js';

/** Fields of a payment in every message of the gateway. */
export interface Payment {
  readonly transaction_id: string;
  readonly transaction_time: string;
  readonly payment_type: string;
  /** Convenience stores are not screened for fraud. */
  readonly fraud_status?: string;
  /** Sum of the refunds, for example `50000.00`. */
  readonly refund_amount?: string;
  readonly refunds?: readonly SimulatedRefund[];
}

export interface SimulatedRefund {
  readonly refund_key: string;
  readonly refund_amount: string;
  readonly reason: string | null;
  readonly created_at: string;
}

/** A notification to the shop. */
export interface SentNotification {
  readonly id: string;
  readonly status: TransactionStatus | null;
  readonly body: string;
  readonly sentAt: string;
  /** Last response, for example `HTTP 200`; null before the first one. */
  readonly answer: string | null;
}

/** Status codes other than 200. */
const STATUS_CODES: Record<string, string> = { pending: '201', deny: '202', expire: '202', failure: '202' };

/** Payment page of the simulator and its current payment. */
@Entity('simulator_transactions')
export class SimulatorTransaction {
  @PrimaryColumn('text', { name: 'order_id', primaryKeyConstraintName: 'simulator_transactions_pkey' })
  orderId!: string;

  /** Secret: anyone who has it can act as the customer, the bank and the gateway. */
  @Column('text')
  token!: string;

  /** Whole rupiah, as PostgreSQL writes a bigint. */
  @Column('bigint', { name: 'gross_amount' })
  grossAmount!: string;

  @Column('jsonb')
  items!: TransactionRequest['items'];

  @Column('jsonb')
  customer!: TransactionRequest['customer'];

  /** Null until a payment method is chosen, or `cancel` or `expire` if the page was ended before that. */
  @Column('text', { name: 'transaction_status', nullable: true })
  status!: TransactionStatus | null;

  /** Null until a payment method is chosen. Another payment replaces one that was denied or failed. */
  @Column('jsonb', { nullable: true })
  payment!: Payment | null;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** Latest notifications, oldest first. */
  @Column('jsonb', { default: () => "'[]'" })
  notifications!: readonly SentNotification[];

  /** Whole rupiah. */
  get refundedAmount(): number {
    return Number(this.payment?.refund_amount ?? 0);
  }

  /**
   * Builds a message about the payment, for notifications and for status responses.
   * @param status current status of the payment, or `pending` in a late notification
   * @see https://docs.midtrans.com/docs/https-notification-webhooks
   */
  toMessage(status: TransactionStatus | null, serverKey: string) {
    const signed = {
      order_id: this.orderId,
      status_code: STATUS_CODES[status ?? ''] ?? '200',
      gross_amount: `${this.grossAmount}.00`,
    };
    return {
      ...this.payment,
      transaction_status: status,
      ...signed,
      signature_key: computeSignature(signed, serverKey),
    };
  }
}
