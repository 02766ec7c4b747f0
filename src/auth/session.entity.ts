import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A session that has not been ended. Ending a session deletes its row. Only SQL of `SessionsService` uses the columns
 * `created_at` and `expires_at`.
 */
@Entity('sessions')
export class Session {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'sessions_pkey' })
  id!: string;

  @Column('integer', { name: 'user_id' })
  userId!: number;

  /** SHA-256 of the refresh token. Null if a later login of the user revoked the refresh token. */
  @Column('bytea', { name: 'refresh_token_digest', nullable: true })
  refreshTokenDigest!: Buffer | null;
}
