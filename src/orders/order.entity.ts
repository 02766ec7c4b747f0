import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import { bigintAsNumber } from '../common/bigint-as-number.js';
import type { TransactionStatus } from '../gateway/payment-gateway.js';
import { User } from '../users/user.entity.js';
import { type Fulfilment, NEXT_STEPS } from './fulfilment.js';
import { DOUBTFUL_FRAUD_STATUSES, PAID_STATUSES } from './order-status.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

@Entity('orders')
export class Order {
  @PrimaryColumn('uuid', { name: 'order_id', primaryKeyConstraintName: 'orders_pkey' })
  orderId!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  /** Loaded for lists, administrators and mails, but not when a customer reads a single order. */
  @ManyToOne(() => User)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'orders_user_id_fkey' })
  customer!: User;

  @Column('text', { default: 'pending' })
  status: TransactionStatus = 'pending';

  @Column('text', { default: 'new' })
  fulfilment: Fulfilment = 'new';

  /** Whole rupiah. */
  @Column('bigint', { name: 'gross_amount', transformer: bigintAsNumber })
  grossAmount!: number;

  @Column('bigint', { name: 'refunded_amount', default: 0, transformer: bigintAsNumber })
  refundedAmount = 0;

  /** The gateway's id of the transaction that set the status. */
  @Column('text', { name: 'transaction_id', nullable: true })
  transactionId!: string | null;

  /** Id of the current payment attempt. Null means the first attempt, whose id is the order id. */
  @Column('uuid', { name: 'attempt_id', nullable: true })
  attemptId!: string | null;

  @Column('text', { name: 'payment_type', nullable: true })
  paymentType: string | null = null;

  @Column('text', { name: 'fraud_status', nullable: true })
  fraudStatus: string | null = null;

  /** Amount of the last applied payment event, as received. */
  @Column('text', { name: 'transaction_amount', nullable: true })
  transactionAmount!: string | null;

  /** Null unless the status is `settlement` or `capture`. */
  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt: Date | null = null;

  /** Stays after a refund or a cancelled payment, so that the receipt is mailed once. */
  @Column('timestamptz', { name: 'first_paid_at', nullable: true })
  firstPaidAt!: Date | null;

  @Column('timestamptz', { name: 'pickup_at', nullable: true })
  pickupAt!: Date | null;

  @Column('varchar', { length: 32, nullable: true })
  phone!: string | null;

  @Column('varchar', { length: 500, nullable: true })
  note!: string | null;

  @Column('varchar', { name: 'idempotency_key', length: 255, nullable: true })
  idempotencyKey!: string | null;

  /** SHA-256 of the request, to detect a different request under the same key. */
  @Column('bytea', { name: 'request_digest', nullable: true })
  requestDigest!: Buffer | null;

  @Column('smallint', { name: 'checks', default: 0 })
  reconciliations!: number;

  /** Time of the next reconciliation while the order is pending. */
  @Column('timestamptz', { name: 'next_check_at', default: () => "now() + interval '5 minutes'" })
  nextCheckAt!: Date;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz', name: 'updated_at' })
  updatedAt!: Date;

  @OneToMany(() => OrderItem, (item) => item.order)
  items!: OrderItem[];

  /** Oldest first. Not loaded for the day sheet: a paid order needs no payment page. */
  @OneToMany(() => PaymentAttempt, 'order')
  attempts?: PaymentAttempt[];

  /** Order number for people: the beginning of the id, for example `5F0C2A3E`. */
  get number(): string {
    return this.orderId.slice(0, 8).toUpperCase();
  }

  /** Id of the latest payment attempt while the order is pending. Later: id of the attempt that set the order's status. */
  get currentAttemptId(): string {
    return this.attemptId ?? this.orderId;
  }

  /** True if the shop received the money and did not return all of it. A capture with a doubtful fraud status does not count. */
  get isPaid(): boolean {
    const isDoubtful = this.status === 'capture' && DOUBTFUL_FRAUD_STATUSES.includes(this.fraudStatus ?? '');
    return PAID_STATUSES.includes(this.status) && !isDoubtful && this.refundedAmount < this.grossAmount;
  }

  canBecome(next: Fulfilment): boolean {
    return NEXT_STEPS[this.fulfilment].includes(next) && (next !== 'preparing' || this.isPaid);
  }

  /** Newest attempt whose payment page can be used. Null if there is none, or if the order is not pending. */
  get payableAttempt(): PaymentAttempt | null {
    if (this.status !== 'pending') return null;
    return this.attempts?.findLast(({ hasLivePage }) => hasLivePage) ?? null;
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

  @Column('bigint', { transformer: bigintAsNumber })
  price!: number;

  @Column('smallint')
  quantity!: number;

  @ManyToOne(() => Order, (order) => order.items)
  @JoinColumn({ name: 'order_id', foreignKeyConstraintName: 'order_items_order_id_fkey' })
  order!: Order;
}
