import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Part of an attempt that is read together with its order. */
export type AttemptOfOrder = Pick<PaymentAttempt, 'attemptId' | 'token' | 'redirectUrl' | 'expiresAt'>;

/**
 * One id of an order at the gateway, with its own payment page. The first attempt has the id of the order. The gateway accepts
 * each id once, so later attempts have new ids. Notifications contain the id of the attempt.
 */
@Entity('payment_attempts')
export class PaymentAttempt {
  @PrimaryColumn('uuid', { name: 'attempt_id', primaryKeyConstraintName: 'payment_attempts_pkey' })
  attemptId!: string;

  @Column('uuid', { name: 'order_id' })
  orderId!: string;

  @Column('smallint')
  number!: number;

  /** Identifies the request that is calling the gateway. Only that request may store the page. */
  @Column('uuid', { name: 'claim_id', nullable: true })
  leaseId: string | null = null;

  @Column('timestamptz', { name: 'claimed_at', nullable: true })
  leasedAt: Date | null = null;

  @Column('text', { nullable: true })
  token: string | null = null;

  @Column('text', { name: 'redirect_url', nullable: true })
  redirectUrl: string | null = null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt: Date | null = null;
}
