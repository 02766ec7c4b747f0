import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * One try at getting a payment page from the gateway for an order. The gateway takes every id once: the first
 * attempt has the order's own id; when its answer was lost or its page is dead, the next one has a fresh id, which
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

  /** When a request took it upon itself to ask the gateway; null while none does. */
  @Column('timestamptz', { name: 'claimed_at', nullable: true })
  claimedAt!: Date | null;

  @Column('text', { nullable: true })
  token!: string | null;

  @Column('text', { name: 'redirect_url', nullable: true })
  redirectUrl!: string | null;

  /** End of the payment page. */
  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;
}
