import { randomUUID } from 'node:crypto';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bigintAsNumber } from '../../common/bigint-as-number.js';
import { formatGatewayTime } from '../midtrans.messages.js';
import type { PaymentPageRequest, RefundRequest, TransactionStatus } from '../payment-gateway.js';
import { computeSignature } from '../signature.js';

/** Fields of a payment that the gateway's messages contain, except the status and the signed fields. */
interface SimulatedPayment {
  readonly transaction_id: string;
  readonly transaction_time: string;
  readonly payment_type: string;
  /** Convenience stores are not screened for fraud. */
  readonly fraud_status?: string;
  /** Sum of the refunds, for example `50000.00`. */
  readonly refund_amount?: string;
  readonly refunds?: readonly Readonly<Record<string, string | null>>[];
}

export type NotificationDefect = 'late' | 'bad-signature';

interface SentNotification {
  readonly id: string;
  readonly status: TransactionStatus | null;
  readonly body: string;
  readonly sentAt: string;
  /** Last response, for example `HTTP 200`; null before the first one. */
  readonly answer: string | null;
}

/** Statuses that the simulator reports with the status code 202. */
const FAILED: readonly (TransactionStatus | null)[] = ['deny', 'expire', 'failure'];
const MAX_NOTIFICATIONS = 20;

/** Payment page of the simulator and its current payment. */
@Entity('simulator_transactions')
export class SimulatorTransaction {
  @PrimaryColumn('text', { name: 'order_id', primaryKeyConstraintName: 'simulator_transactions_pkey' })
  attemptId!: string;

  /** Secret: anyone who has it can act as the customer, the bank and the gateway. */
  @Column('text')
  token!: string;

  /** Whole rupiah. */
  @Column('bigint', { name: 'gross_amount', transformer: bigintAsNumber })
  grossAmount!: number;

  @Column('jsonb')
  items!: PaymentPageRequest['items'];

  @Column('jsonb')
  customer!: PaymentPageRequest['customer'];

  /** Null until a payment method is chosen, or until `PaymentGateway.cancelOrExpire` ends the page. */
  @Column('text', { name: 'transaction_status', nullable: true })
  status!: TransactionStatus | null;

  /** Null until a payment method is chosen. Another payment replaces one that was denied or failed. */
  @Column('jsonb', { nullable: true })
  payment!: SimulatedPayment | null;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** Latest notifications, oldest first. */
  @Column('jsonb', { default: () => "'[]'" })
  notifications!: readonly SentNotification[];

  /** Whole rupiah. */
  get refundedAmount(): number {
    return Number(this.payment?.refund_amount ?? 0);
  }

  /** Adds a refund to the payment and sets the status to `refund` or `partial_refund`. */
  addRefund({ refundKey, amount, reason }: RefundRequest): void {
    if (this.payment === null) return;
    const refund = {
      refund_key: refundKey,
      refund_amount: `${amount}.00`,
      reason,
      created_at: formatGatewayTime(new Date()),
    };
    this.payment = {
      ...this.payment,
      refund_amount: `${this.refundedAmount + amount}.00`,
      refunds: [...(this.payment.refunds ?? []), refund],
    };
    this.status = this.refundedAmount < this.grossAmount ? 'partial_refund' : 'refund';
  }

  /** Adds a notification about the payment. @returns the id of the notification */
  addNotification(serverKey: string, defect?: NotificationDefect): string {
    const id = randomUUID();
    const status = defect === 'late' ? 'pending' : this.status;
    const key = defect === 'bad-signature' ? 'another key' : serverKey;
    const body = JSON.stringify(this.toMessage(status, key));
    const added = { id, status, body, sentAt: new Date().toISOString(), answer: null };
    this.notifications = [...this.notifications, added].slice(-MAX_NOTIFICATIONS);
    return id;
  }

  /**
   * Builds a message about the payment, for notifications and for status responses.
   * @param status current status of the payment, or `pending` in a late notification
   * @see https://docs.midtrans.com/docs/https-notification-webhooks
   */
  toMessage(status: TransactionStatus | null, serverKey: string) {
    const signed = {
      order_id: this.attemptId,
      status_code: status === 'pending' ? '201' : FAILED.includes(status) ? '202' : '200',
      gross_amount: `${this.grossAmount}.00`,
    };
    const signature_key = computeSignature(signed, serverKey);
    return { ...this.payment, transaction_status: status, ...signed, signature_key };
  }
}
