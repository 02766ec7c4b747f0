import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Role } from '../common/current-user.decorator.js';

/** An account. Other modules read it as `Account` of `users.service.ts`. */
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

  /** The live session, as the `jti` of its two tokens says; null when there is none. */
  @Column('uuid', { name: 'session_id', nullable: true })
  sessionId!: string | null;

  /** SHA-256 of the live session's refresh token; null when there is none. */
  @Column('bytea', { name: 'refresh_token_digest', nullable: true })
  refreshTokenDigest!: Buffer | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}
