import { randomUUID } from 'node:crypto';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm';
import { User } from '../users/user.entity.js';
import type { Fulfilment } from './fulfilment.js';
import type { OrderStatus } from './order-status.js';

/** A request that asks the gateway for a payment page has this long; then its process is taken for dead. */
const CLAIM_MS = 10_000;

@Entity('orders')
export class Order {
  @PrimaryColumn('uuid', { name: 'order_id', primaryKeyConstraintName: 'orders_pkey' })
  orderId!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  /** Only where it was asked for: id, full name and e-mail. */
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

  /** The gateway's id of the transaction that the status comes from. */
  @Column('text', { name: 'transaction_id', nullable: true })
  transactionId!: string | null;

  /** The payment attempt that counts, if it is not the first. */
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

  /** Kept when the payment is undone and made again: the receipt was mailed then. */
  @Column('timestamptz', { name: 'first_paid_at', nullable: true })
  firstPaidAt!: Date | null;

  /** Given by the client that made the order; unique for its user. */
  @Column('varchar', { name: 'idempotency_key', length: 255, nullable: true })
  idempotencyKey!: string | null;

  /** SHA-256 of what was ordered, to tell a repetition from another request under the same key. */
  @Column('bytea', { name: 'request_digest', nullable: true })
  requestDigest!: Buffer | null;

  /** How often the gateway was asked about it. */
  @Column('smallint', { default: 0 })
  checks!: number;

  /** When the gateway is to be asked about it, if it is still pending. */
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

  /** The payment attempt that counts: the latest while the order is pending, then the one that set its status. */
  get currentAttemptId(): string {
    return this.attemptId ?? this.orderId;
  }

  /** The newest attempt whose page can be paid on now; null when there is none. */
  get payable(): PaymentAttempt | null {
    return this.status === 'pending' ? (this.attempts.findLast(({ isAlive }) => isAlive) ?? null) : null;
  }
}

/** A line of an order, with name and price as sold; the product may change or go. */
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
 * One try at getting a payment page from the gateway for an order. The gateway takes every id once: the first
 * attempt has the order's own id; when its answer was lost or its page is over, the next one has a fresh id, which
 * notifications then name.
 */
@Entity('payment_attempts')
export class PaymentAttempt {
  @PrimaryColumn('uuid', { name: 'attempt_id', primaryKeyConstraintName: 'payment_attempts_pkey' })
  attemptId!: string;

  @Column('uuid', { name: 'order_id' })
  orderId!: string;

  /** 1 for the first. */
  @Column('smallint')
  number!: number;

  /** Made by the request that asks the gateway; only that request may write the page. Null while none asks. */
  @Column('uuid', { name: 'claim_id', nullable: true })
  claimId!: string | null;

  @Column('timestamptz', { name: 'claimed_at', nullable: true })
  claimedAt!: Date | null;

  @Column('text', { nullable: true })
  token!: string | null;

  @Column('text', { name: 'redirect_url', nullable: true })
  redirectUrl!: string | null;

  /** End of the payment page. */
  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @ManyToOne(() => Order, (order) => order.attempts)
  @JoinColumn({ name: 'order_id', foreignKeyConstraintName: 'payment_attempts_order_id_fkey' })
  order!: Relation<Order>;

  /** A new attempt, not yet stored. @param number 1 for an order's first */
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
   * Gives the caller the right to ask the gateway under this id, once the attempt is stored. It ends when another request
   * claims the attempt, which may happen 10 seconds later: a process that was stopped for that long finds it so.
   */
  claim(): this {
    return Object.assign(this, { claimId: randomUUID(), claimedAt: new Date() });
  }

  /** Whether it has a payment page that can be used. */
  get isAlive(): boolean {
    return this.token !== null && this.expiresAt !== null && this.expiresAt.getTime() > Date.now();
  }

  /** Whether a request is asking the gateway for its page right now. */
  get isClaimed(): boolean {
    return this.claimedAt !== null && this.claimedAt.getTime() > Date.now() - CLAIM_MS;
  }
}
