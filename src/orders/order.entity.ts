import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { PaymentPage, TransactionStatus } from '../gateway/payment-gateway.js';
import { User } from '../users/user.entity.js';
import type { SoldItem } from './order-item.entity.js';
import {
  type Fulfilment,
  GRACE_HOURS,
  isMoneyReceived,
  NEXT_STEPS,
  OPEN_STATUSES,
  PAY_TIME_HOURS,
  RETRYABLE_STATUSES,
} from './order-status.js';
import type { AttemptOfOrder } from './payment-attempt.entity.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A customer who opens a page shortly before the lead time of the pickup still has this time to pay. */
const MIN_PAGE_MS = 15 * MINUTE_MS;

@Entity('orders')
export class Order {
  @PrimaryColumn('uuid', { name: 'order_id', primaryKeyConstraintName: 'orders_pkey' })
  orderId!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  @ManyToOne(() => User)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'orders_user_id_fkey' })
  customer!: User;

  @Column('text', { default: 'pending' })
  status: TransactionStatus = 'pending';

  @Column('text', { default: 'new' })
  fulfilment: Fulfilment = 'new';

  @Column('bigint', { name: 'gross_amount' })
  grossAmount!: number;

  @Column('bigint', { name: 'refunded_amount', default: 0 })
  refundedAmount = 0;

  @Column('text', { name: 'transaction_id', nullable: true })
  transactionId: string | null = null;

  /**
   * Attempt that was paid. If none was paid, the attempt with the newest page. Null also means the first attempt, whose id is that
   * of the order. Stored for version 1.2, which may run beside this version and refunds from this attempt.
   */
  @Column('uuid', { name: 'attempt_id', nullable: true })
  attemptId: string | null = null;

  @Column('text', { name: 'payment_type', nullable: true })
  paymentType: string | null = null;

  @Column('text', { name: 'fraud_status', nullable: true })
  fraudStatus: string | null = null;

  /** Amount of the transaction that counts, as received. */
  @Column('text', { name: 'transaction_amount', nullable: true })
  transactionAmount: string | null = null;

  /** Time at which the service learned of the `settlement` or `capture`. Null in every other status, also after a refund. */
  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt: Date | null = null;

  /** Stays after a refund or a cancelled payment, so that the receipt is mailed once. */
  @Column('timestamptz', { name: 'first_paid_at', nullable: true })
  firstPaidAt: Date | null = null;

  /** End of the newest payment page. Null for an order of version 1.2, which can be paid for 24 hours. */
  @Column('timestamptz', { name: 'pay_until', nullable: true })
  payUntil: Date | null = null;

  /** Whole rupiah of other transactions than the one that counts: money that the shop has to return. */
  @Column('bigint', { name: 'surplus_amount', default: 0 })
  surplusAmount = 0;

  @Column('timestamptz', { name: 'pickup_at', nullable: true })
  pickupAt: Date | null = null;

  @Column('varchar', { length: 32, nullable: true })
  phone: string | null = null;

  @Column('varchar', { length: 500, nullable: true })
  note: string | null = null;

  @Column('varchar', { name: 'idempotency_key', length: 255, nullable: true })
  idempotencyKey: string | null = null;

  /** SHA-256 of the request, to detect a different request under the same key. */
  @Column('bytea', { name: 'request_digest', nullable: true })
  requestDigest: Buffer | null = null;

  /** Number of scheduled checks at the gateway so far: the gap before the next check doubles. */
  @Column('smallint', { default: 0 })
  checks!: number;

  @Column('timestamptz', { name: 'next_check_at', default: () => "now() + interval '5 minutes'" })
  nextCheckAt!: Date;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz', name: 'updated_at' })
  updatedAt!: Date;

  /** No relation: `OrdersRepository` loads the items. */
  items!: readonly SoldItem[];

  /** Oldest first. No relation: `OrdersRepository` loads the attempts. A new order has none until its first page is open. */
  attempts: readonly AttemptOfOrder[] = [];

  /** Order number for people: the beginning of the id, for example `5F0C2A3E`. */
  get number(): string {
    return this.orderId.slice(0, 8).toUpperCase();
  }

  /** True if the shop received the money and did not return all of it. A capture with a doubtful fraud status does not count. */
  get isPaid(): boolean {
    return isMoneyReceived(this.status, this.fraudStatus) && this.refundedAmount < this.grossAmount;
  }

  get isRefundDue(): boolean {
    return this.surplusAmount > 0 || (this.fulfilment === 'refused' && this.isPaid);
  }

  get endOfPayment(): Date {
    return this.payUntil ?? new Date(this.createdAt.getTime() + PAY_TIME_HOURS * HOUR_MS);
  }

  /**
   * Returns the end of a page that opens now: the lead time before the pickup, but at least 15 minutes from now, and at most a
   * day after the order.
   */
  computeEndOfPage({ lead_minutes }: Readonly<{ lead_minutes: number }>): Date {
    const endOfPayTime = this.createdAt.getTime() + PAY_TIME_HOURS * HOUR_MS;
    if (this.pickupAt === null) return new Date(endOfPayTime);
    const end = Math.max(this.pickupAt.getTime() - lead_minutes * MINUTE_MS, Date.now() + MIN_PAGE_MS);
    return new Date(Math.min(end, endOfPayTime));
  }

  /** Time at which the service expires the order if it is not paid: an hour after the end of the newest payment page. */
  get expiryDueAt(): Date {
    return new Date(this.endOfPayment.getTime() + GRACE_HOURS * HOUR_MS);
  }

  /** True while the customer can pay, also after a payment that failed. The shop has received no money so far. */
  get isOpen(): boolean {
    const canBePaid = OPEN_STATUSES.includes(this.status) && this.fulfilment !== 'refused';
    return canBePaid && this.firstPaidAt === null && this.endOfPayment.getTime() > Date.now();
  }

  canBecome(next: Fulfilment): boolean {
    return NEXT_STEPS[this.fulfilment].includes(next) && (next !== 'preparing' || this.isPaid);
  }

  /** True if the last payment failed, or the order has expired. If the order is open, it needs another payment page. */
  get isRetryable(): boolean {
    return RETRYABLE_STATUSES.includes(this.status);
  }

  /** Newest payment page that has not expired. Null if there is none. */
  get livePage(): PaymentPage | null {
    return this.attempts.map(livePageOf).findLast((page) => page !== null) ?? null;
  }

  get needsPage(): boolean {
    return needsPage(this, this.attempts);
  }

  /** True if the order was cancelled, refused or expired. Money that arrives now counts once the gateway confirms it. */
  get hasEnded(): boolean {
    return this.fulfilment === 'refused' || (['cancel', 'expire'].includes(this.status) && !this.isOpen);
  }
}

/** Order without its items, customer and attempts, and without the values that are computed from the attempts. */
export type OrderRow = Omit<Order, 'items' | 'customer' | 'attempts' | 'livePage' | 'needsPage'>;

/** Returns true if an order with these attempts is open, and has no page on which its next payment can be made. */
export function needsPage(order: OrderRow, attempts: readonly AttemptOfOrder[]): boolean {
  return order.isOpen && (order.isRetryable || attempts.every((attempt) => livePageOf(attempt) === null));
}

/** Returns the payment page of an attempt. Null if it has expired or the gateway has not opened one. */
function livePageOf({ token, redirectUrl, expiresAt }: AttemptOfOrder): PaymentPage | null {
  if (token === null || redirectUrl === null || expiresAt === null) return null;
  return expiresAt.getTime() > Date.now() ? { token, redirectUrl } : null;
}
