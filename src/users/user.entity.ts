import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Role } from '../common/access.js';
import type { Language } from '../common/languages.js';
import type { Locked } from '../database/locked.js';

/** User whose row the current transaction has locked or created. Only methods of `UsersService` create this type. */
export type LockedUser = Locked<User>;

@Entity('users')
export class User {
  @PrimaryGeneratedColumn('identity', { type: 'integer', primaryKeyConstraintName: 'users_pkey' })
  id!: number;

  @Column('varchar', { length: 255 })
  fullname!: string;

  /** In the letter case that the user typed. Unique regardless of case: index `users_email_key` on `lower(email)`. */
  @Column('varchar', { length: 254 })
  email!: string;

  @Column('text', { default: 'USER' })
  role!: Role;

  /** argon2id, in the PHC string format. */
  @Column('text', { name: 'password_hash' })
  passwordHash!: string;

  @Column('timestamptz', { name: 'email_verified_at', nullable: true })
  emailVerifiedAt!: Date | null;

  /** Language of mails to this user. Null means the language of the shop. */
  @Column('text', { nullable: true })
  language!: Language | null;
}
