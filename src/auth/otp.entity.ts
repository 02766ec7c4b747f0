import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a one-time password is good for; each purpose has its own code and its own limit. */
export type OtpPurpose = 'verify_email' | 'reset_password';

/** The latest one-time password of an account for one purpose. The code itself is stored nowhere. */
@Entity('one_time_passwords')
export class OneTimePassword {
  @PrimaryColumn('integer', { name: 'user_id', primaryKeyConstraintName: 'one_time_passwords_pkey' })
  userId!: number;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'one_time_passwords_pkey' })
  purpose!: OtpPurpose;

  /** When the owner last asked for one; limits how often mail is sent. */
  @Column('timestamptz', { name: 'requested_at' })
  requestedAt!: Date;

  /** HMAC-SHA256 of the code; null until it is mailed and after it was used. */
  @Column('bytea', { nullable: true })
  digest!: Buffer | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('smallint', { default: 0 })
  tries!: number;
}
