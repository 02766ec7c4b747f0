import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** `requested`: without a result yet. `rejected`: by the gateway or by an operator. */
type RefundState = 'requested' | 'succeeded' | 'rejected';

@Entity('refunds')
export class Refund {
  /** Also the gateway's `refund_key`, under which the call can be repeated. */
  @PrimaryColumn('uuid', { name: 'refund_id', primaryKeyConstraintName: 'refunds_pkey' })
  refundId!: string;

  @Column('uuid', { name: 'order_id' })
  orderId!: string;

  @Column('uuid', { name: 'attempt_id' })
  attemptId!: string;

  @Column('text', { name: 'transaction_id' })
  transactionId!: string;

  @Column('bigint')
  amount!: number;

  /** Sum of the transaction's refunds that the gateway reports once this refund has succeeded. It excludes manual refunds. */
  @Column('bigint', { name: 'gateway_sum' })
  gatewaySum!: number;

  @Column('varchar', { length: 255, nullable: true })
  reason!: string | null;

  /** True if the money was returned outside of the gateway. */
  @Column('boolean', { name: 'is_manual' })
  isManual!: boolean;

  @Column('text')
  state: RefundState = 'requested';

  @Column('uuid', { name: 'claim_id', nullable: true })
  leaseId: string | null = null;

  @Column('timestamptz', { name: 'claimed_at', nullable: true })
  leasedAt: Date | null = null;

  /** Administrator who requested the refund. Null before version 1.3. */
  @Column('integer', { name: 'user_id', nullable: true })
  userId!: number | null;

  /** Reason of a rejection, from the gateway or an operator. The payment history contains it too. */
  @Column('varchar', { length: 300, nullable: true })
  rejection: string | null = null;

  /**
   * True if a client has received the success. Stays false for a rejection. Rows of version 1.2 have the default `true`: 1.2 did
   * not record whether a client got the result.
   */
  @Column('boolean', { name: 'is_answered', default: true })
  isAnswered = false;

  /** Unique among the refunds of the order. */
  @Column('varchar', { name: 'idempotency_key', length: 255, nullable: true })
  idempotencyKey!: string | null;

  /** SHA-256 of the request. Detects another request under the same key, and an equal request without a key. */
  @Column('bytea', { name: 'request_digest' })
  requestDigest!: Buffer;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz', name: 'updated_at' })
  updatedAt!: Date;
}
