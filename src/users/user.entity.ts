import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Role } from '../common/current-user.decorator.js';

/** An account. Stays inside this module; others receive ids and the plain views of `users.service.ts`. */
@Entity('users')
export class User {
  @PrimaryGeneratedColumn('identity', { type: 'integer', primaryKeyConstraintName: 'users_pkey' })
  id!: number;

  @Column('varchar', { length: 255 })
  fullname!: string;

  /** As typed; unique without regard to case (index `users_email_key` on `lower(email)`). */
  @Column('varchar', { length: 254 })
  email!: string;

  @Column('text', { default: 'USER' })
  role!: Role;

  /** argon2id, in the PHC string format. */
  @Column('text', { name: 'password_hash' })
  passwordHash!: string;

  @Column('timestamptz', { name: 'email_verified_at', nullable: true })
  emailVerifiedAt!: Date | null;

  /** SHA-256 of the one refresh token that is valid; null when there is none. */
  @Column('bytea', { name: 'refresh_token_digest', nullable: true })
  refreshTokenDigest!: Buffer | null;

  /** Grows with every change that makes tokens stale: password, e-mail, name, role. */
  @Column('integer', { name: 'claims_version', default: 1 })
  claimsVersion!: number;

  /** When all sessions were last ended, by a logout or a change of claims; by this service's clock, as `iat` is. */
  @Column('timestamptz', { name: 'sessions_ended_at', nullable: true })
  sessionsEndedAt!: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}
