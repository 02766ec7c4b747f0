import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A session that has not been ended. Ending a session deletes its row. */
@Entity('sessions')
export class Session {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'sessions_pkey' })
  id!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  /** SHA-256 of the refresh token. Null if a later login of the user revoked the refresh token. */
  @Column('bytea', { name: 'refresh_token_digest', nullable: true })
  refreshTokenDigest!: Buffer | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'clock_timestamp()' })
  createdAt!: Date;

  /** A job removes the row after this time. Default: 10 days + 10 min (lifetimes of both tokens) + 1 min (clock skew). */
  @Column('timestamptz', {
    name: 'expires_at',
    default: () => "clock_timestamp() + interval '10 days 11 minutes'",
  })
  expiresAt!: Date;
}
