import { randomUUID } from 'node:crypto';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { computeSignature, formatGatewayTime } from '../midtrans.messages.js';
import type { PaymentPageRequest, RefundRequest, TransactionStatus } from '../payment-gateway.js';

/**
 * Transaction of a payment page: one try of the customer to pay. Contains the fields of the gateway's messages, except the
 * signed ones. Never modified: a change is a new object.
 */
export interface SimulatedTransaction {
  readonly transaction_id: string;
  readonly transaction_time: string;
  readonly transaction_status: TransactionStatus;
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
  readonly status: TransactionStatus;
  readonly body: string;
  readonly sentAt: string;
  /** Last response (version 1.2 named the field), for example `HTTP 200`; null before the first one. */
  readonly answer: string | null;
}

/** Status codes in messages of the gateway. A status that is not listed has the code 200. */
const STATUS_CODES: Partial<Record<TransactionStatus, string>> = {
  pending: '201',
  deny: '202',
  expire: '202',
  failure: '202',
};

/** The customer can choose another payment method while all transactions of the page have one of these statuses. */
const UNPAID_STATUSES: readonly TransactionStatus[] = ['pending', 'deny', 'expire', 'failure'];
const MAX_NOTIFICATIONS = 20;

/**
 * Payment page of an attempt, with its transactions and notifications. Version 1.2, which runs beside this one during an upgrade,
 * named the table and the columns.
 */
@Entity('simulator_transactions')
export class SimulatorPage {
  @PrimaryColumn('text', { name: 'order_id', primaryKeyConstraintName: 'simulator_transactions_pkey' })
  attemptId!: string;

  /** Secret: anyone who has it can act as the customer, the bank and the gateway. */
  @Column('text')
  token!: string;

  @Column('bigint', { name: 'gross_amount' })
  grossAmount!: number;

  @Column('jsonb')
  items!: PaymentPageRequest['items'];

  @Column('jsonb')
  customer!: PaymentPageRequest['customer'];

  /** Status of the latest transaction. Without a transaction: `cancel` or `expire` if the page has ended, otherwise null. */
  @Column('text', { name: 'transaction_status', nullable: true })
  status!: TransactionStatus | null;

  /** Latest transaction, without its status. Null until a payment method is chosen. */
  @Column('jsonb', { nullable: true })
  payment!: Omit<SimulatedTransaction, 'transaction_status'> | null;

  /** All transactions but the latest, oldest first. Version 1.2 knows only the latest one, in the two columns above. */
  @Column('jsonb', { name: 'earlier_transactions', default: () => "'[]'" })
  earlier!: readonly SimulatedTransaction[];

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  /** Latest notifications, oldest first. */
  @Column('jsonb', { default: () => "'[]'" })
  notifications!: readonly SentNotification[];

  /** Oldest first. */
  get transactions(): readonly SimulatedTransaction[] {
    const { earlier, status, payment } = this;
    return status === null || payment === null
      ? earlier
      : [...earlier, { ...payment, transaction_status: status }];
  }

  get isOpen(): boolean {
    const { transactions, status, payment, expiresAt } = this;
    const isEnded = (payment === null && status !== null) || expiresAt.getTime() <= Date.now();
    const isUnpaid = transactions.every((transaction) =>
      UNPAID_STATUSES.includes(transaction.transaction_status),
    );
    return !isEnded && isUnpaid;
  }

  /** Finds a transaction by its id. The id of the attempt, which is the default, finds the latest transaction. */
  findTransaction(id = this.attemptId): SimulatedTransaction | undefined {
    if (id === this.attemptId) return this.transactions.at(-1);
    return this.transactions.find(({ transaction_id }) => transaction_id === id);
  }

  /** Adds a transaction, or replaces the one with the same id. */
  storeTransaction(changed: SimulatedTransaction): void {
    const byId = new Map(this.transactions.map((transaction) => [transaction.transaction_id, transaction]));
    byId.set(changed.transaction_id, changed);
    const all = [...byId.values()];
    const { transaction_status, ...payment } = all.at(-1) ?? changed;
    this.earlier = all.slice(0, -1);
    this.status = transaction_status;
    this.payment = payment;
  }

  /** Adds a notification about a transaction. Returns the id of the notification. */
  addNotification(transaction: SimulatedTransaction, serverKey: string, defect?: NotificationDefect): string {
    const id = randomUUID();
    const status = defect === 'late' ? 'pending' : transaction.transaction_status;
    const key = defect === 'bad-signature' ? 'another key' : serverKey;
    const body = JSON.stringify(this.toMessage({ ...transaction, transaction_status: status }, key));
    const added = { id, status, body, sentAt: new Date().toISOString(), answer: null };
    this.notifications = [...this.notifications, added].slice(-MAX_NOTIFICATIONS);
    return id;
  }

  /**
   * Builds a message about a transaction, for notifications and for status responses.
   * @see https://docs.midtrans.com/docs/https-notification-webhooks
   */
  toMessage(transaction: SimulatedTransaction, serverKey: string) {
    const signed = {
      order_id: this.attemptId,
      status_code: STATUS_CODES[transaction.transaction_status] ?? '200',
      gross_amount: `${this.grossAmount}.00`,
    };
    return { ...transaction, ...signed, signature_key: computeSignature(signed, serverKey) };
  }

  /** Returns a transaction with one more refund. */
  withRefund(
    transaction: SimulatedTransaction,
    { refundKey, amount, reason }: RefundRequest,
  ): SimulatedTransaction {
    const sum = readRefundedAmount(transaction) + amount;
    const refund = {
      refund_key: refundKey,
      refund_amount: `${amount}.00`,
      reason,
      created_at: formatGatewayTime(new Date()),
    };
    return {
      ...transaction,
      transaction_status: sum < this.grossAmount ? 'partial_refund' : 'refund',
      refund_amount: `${sum}.00`,
      refunds: [...(transaction.refunds ?? []), refund],
    };
  }
}

export function readRefundedAmount(transaction: Pick<SimulatedTransaction, 'refund_amount'> | null): number {
  return Number(transaction?.refund_amount ?? 0);
}
