import { randomUUID } from 'node:crypto';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm';
import { User } from '../users/user.entity.js';
import type { Fulfilment } from './fulfilment.js';
import { isPaid, type OrderStatus } from './order-status.js';

/** Lifetime of a claim. A request that takes longer is assumed to have died with its process. */
const CLAIM_MS = 10_000;

@Entity('orders')
export class Order {
  @PrimaryColumn('uuid', { name: 'order_id', primaryKeyConstraintName: 'orders_pkey' })
  orderId!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  /** Loaded only by queries for administrators and mails. */
  @ManyToOne(() => User)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'orders_user_id_fkey' })
  customer!: Relation<User>;

  @Column('text', { default: 'pending' })
  status!: OrderStatus;

  @Column('text', { default: 'new' })
  fulfilment!: Fulfilment;

  /** Whole rupiah, as PostgreSQL writes a bigint. */
  @Column('bigint', { name: 'gross_amount' })
  grossAmount!: string;

  /** Sum of the refunds in whole rupiah. */
  @Column('bigint', { name: 'refunded_amount', default: 0 })
  refundedAmount!: string;

  /** The gateway's id of the transaction that set the status. */
  @Column('text', { name: 'transaction_id', nullable: true })
  transactionId!: string | null;

  /** Id of the current payment attempt. Null means the first attempt, whose id is the order id. */
  @Column('uuid', { name: 'attempt_id', nullable: true })
  attemptId!: string | null;

  @Column('text', { name: 'payment_type', nullable: true })
  paymentType!: string | null;

  @Column('text', { name: 'fraud_status', nullable: true })
  fraudStatus!: string | null;

  /** Amount in the last applied payment event, as the gateway wrote the amount. */
  @Column('text', { name: 'transaction_amount', nullable: true })
  transactionAmount!: string | null;

  /** Time at which the transaction got the status `settlement` or `capture`; null in any other status. */
  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt!: Date | null;

  /** Time of the first payment. Stays when the payment is undone, so that the receipt is mailed once. */
  @Column('timestamptz', { name: 'first_paid_at', nullable: true })
  firstPaidAt!: Date | null;

  @Column('timestamptz', { name: 'pickup_at', nullable: true })
  pickupAt!: Date | null;

  @Column('varchar', { length: 32, nullable: true })
  phone!: string | null;

  @Column('varchar', { length: 500, nullable: true })
  note!: string | null;

  /** Unique for the user. */
  @Column('varchar', { name: 'idempotency_key', length: 255, nullable: true })
  idempotencyKey!: string | null;

  /** SHA-256 of the request, to detect a different request under the same key. */
  @Column('bytea', { name: 'request_digest', nullable: true })
  requestDigest!: Buffer | null;

  /** Number of reconciliations. */
  @Column('smallint', { default: 0 })
  checks!: number;

  /** Time of the next reconciliation while the order is pending. */
  @Column('timestamptz', { name: 'next_check_at', default: () => "now() + interval '5 minutes'" })
  nextCheckAt!: Date;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;

  @OneToMany(() => OrderItem, (item) => item.order)
  items!: OrderItem[];

  /** Oldest first. */
  @OneToMany(() => PaymentAttempt, (attempt) => attempt.order)
  attempts!: PaymentAttempt[];

  /** Order number for people: the beginning of the id, for example `5F0C2A3E`. */
  get number(): string {
    return this.orderId.slice(0, 8).toUpperCase();
  }

  /** Id of the latest payment attempt while the order is pending. Later: id of the attempt that set the order's status. */
  get currentAttemptId(): string {
    return this.attemptId ?? this.orderId;
  }

  get isPaid(): boolean {
    return isPaid(this);
  }

  /** True if the bakery refused the order but has not returned the full payment yet. */
  get isRefundDue(): boolean {
    return this.fulfilment === 'refused' && this.isPaid;
  }

  /** Newest attempt with a live payment page. */
  get payable(): PaymentAttempt | null {
    return this.status === 'pending' ? (this.attempts.findLast(({ isAlive }) => isAlive) ?? null) : null;
  }
}

/** Item of an order, with name and price as sold. The product may have changed or been deleted since. */
@Entity('order_items')
export class OrderItem {
  @PrimaryColumn('uuid', { name: 'order_id', primaryKeyConstraintName: 'order_items_pkey' })
  orderId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'order_items_pkey' })
  position!: number;

  @Column('integer', { name: 'product_id' })
  productId!: number;

  @Column('varchar', { length: 255 })
  name!: string;

  /** Whole rupiah, as PostgreSQL writes a bigint. */
  @Column('bigint')
  price!: string;

  @Column('smallint')
  quantity!: number;

  @ManyToOne(() => Order, (order) => order.items)
  @JoinColumn({ name: 'order_id', foreignKeyConstraintName: 'order_items_order_id_fkey' })
  order!: Relation<Order>;
}

/**
 * Attempt to get an order paid, with its own payment page. The gateway accepts every id once: the first attempt has the id of
 * the order, and later attempts have new ids. Notifications contain the id of the attempt.
 */
@Entity('payment_attempts')
export class PaymentAttempt {
  @PrimaryColumn('uuid', { name: 'attempt_id', primaryKeyConstraintName: 'payment_attempts_pkey' })
  attemptId!: string;

  @Column('uuid', { name: 'order_id' })
  orderId!: string;

  /** Position among the attempts of the order; 1 for the first attempt. */
  @Column('smallint')
  number!: number;

  /** Identifies the request that is calling the gateway. Only that request may store the page. */
  @Column('uuid', { name: 'claim_id', nullable: true })
  claimId!: string | null;

  @Column('timestamptz', { name: 'claimed_at', nullable: true })
  claimedAt!: Date | null;

  @Column('text', { nullable: true })
  token!: string | null;

  @Column('text', { name: 'redirect_url', nullable: true })
  redirectUrl!: string | null;

  /** End of the payment page's lifetime. */
  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @ManyToOne(() => Order, (order) => order.attempts)
  @JoinColumn({ name: 'order_id', foreignKeyConstraintName: 'payment_attempts_order_id_fkey' })
  order!: Relation<Order>;

  /** Creates an attempt, not yet stored. @param number 1 for an order's first */
  static of(orderId: string, number: number): PaymentAttempt {
    return Object.assign(new PaymentAttempt(), {
      attemptId: number === 1 ? orderId : randomUUID(),
      orderId,
      number,
      token: null,
      redirectUrl: null,
      expiresAt: null,
    });
  }

  /**
   * Claims the right to call the gateway with this id, once the attempt is stored. After 10 seconds another request may claim
   * the attempt, which ends this claim.
   */
  claim(): this {
    return Object.assign(this, { claimId: randomUUID(), claimedAt: new Date() });
  }

  /** True while the payment page can be used. */
  get isAlive(): boolean {
    return this.token !== null && this.expiresAt !== null && this.expiresAt.getTime() > Date.now();
  }

  /** True while a request is calling the gateway for the page. */
  get isClaimed(): boolean {
    return this.claimedAt !== null && this.claimedAt.getTime() > Date.now() - CLAIM_MS;
  }
}
