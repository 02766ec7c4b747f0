import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Each purpose has its own code and limits. */
export type OtpPurpose = 'verify_email' | 'reset_password';

/** The latest one-time password of a user for one purpose. The code itself is stored nowhere. */
@Entity('one_time_passwords')
export class OneTimePassword {
  @PrimaryColumn('integer', { name: 'user_id', primaryKeyConstraintName: 'one_time_passwords_pkey' })
  userId!: number;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'one_time_passwords_pkey' })
  purpose!: OtpPurpose;

  /** HMAC-SHA256 of the code; null before the code is mailed, and after the code is used or invalidated. */
  @Column('bytea', { nullable: true })
  digest!: Buffer | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  /** Tries that processes of version 1.2 count during an upgrade. This version only resets the number for a new code. */
  @Column('smallint', { default: 0 })
  tries!: number;
}
