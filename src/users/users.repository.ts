import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { queryNamed } from '../config/named-statement.js';
import { User } from './user.entity.js';

/** What a login reads of an account. */
export type FoundUser = Pick<
  User,
  | 'id'
  | 'fullname'
  | 'email'
  | 'role'
  | 'passwordHash'
  | 'claimsVersion'
  | 'emailVerifiedAt'
  | 'sessionsEndedAt'
>;

/** Named, so that each connection parses and plans it once, and written out: a login runs both. */
const FIND_BY_EMAIL = {
  name: 'user-by-email',
  text: `SELECT id, fullname, email, role, password_hash AS "passwordHash", claims_version AS "claimsVersion",
      email_verified_at AS "emailVerifiedAt", sessions_ended_at AS "sessionsEndedAt"
    FROM users WHERE lower(email) = lower($1)`,
};
const STORE_REFRESH_TOKEN = {
  name: 'user-refresh-token',
  text: 'UPDATE users SET refresh_token_digest = $3 WHERE id = $1 AND claims_version = $2 RETURNING id',
};

@Injectable()
export class UsersRepository {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** @throws QueryFailedError of the constraint `users_email_key` when the e-mail is taken */
  async insert(
    tx: EntityManager,
    user: Pick<User, 'fullname' | 'email' | 'role' | 'passwordHash'>,
  ): Promise<User> {
    return tx.save(tx.create(User, user));
  }

  findById(id: number): Promise<User | null> {
    return this.users.findOneBy({ id });
  }

  async findByEmail(email: string): Promise<FoundUser | null> {
    const [user] = await queryNamed<FoundUser>(this.users.manager, FIND_BY_EMAIL, [email]);
    return user ?? null;
  }

  findAdmins(): Promise<User[]> {
    return this.users.find({ where: { role: 'ADMIN' }, order: { id: 'ASC' } });
  }

  /** @returns false when the account's claims have changed since `claimsVersion` was read */
  async storeRefreshTokenDigest(
    tx: EntityManager,
    user: { readonly id: number; readonly claimsVersion: number },
    digest: Buffer,
  ): Promise<boolean> {
    const stored = await queryNamed(tx, STORE_REFRESH_TOKEN, [user.id, user.claimsVersion, digest]);
    return stored.length === 1;
  }

  async clearRefreshTokenDigest(id: number): Promise<void> {
    await this.users.update({ id }, { refreshTokenDigest: null, sessionsEndedAt: new Date() });
  }

  async markEmailVerified(tx: EntityManager, user: User): Promise<User> {
    const emailVerifiedAt = user.emailVerifiedAt ?? new Date();
    await tx.update(User, { id: user.id }, { emailVerifiedAt });
    return Object.assign(user, { emailVerifiedAt });
  }

  /**
   * Locks the row, so that whoever reads an account to change it decides on what is current. Rows that refer to the
   * account can be inserted meanwhile: `FOR UPDATE` would make them wait, and two such waits a deadlock.
   */
  lock(tx: EntityManager, id: number): Promise<User | null> {
    return tx.findOne(User, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  lockByEmail(tx: EntityManager, email: string): Promise<User | null> {
    return tx
      .createQueryBuilder(User, 'u')
      .setLock('pessimistic_write')
      .where('lower(u.email) = lower(:email)', { email })
      .getOne();
  }

  /** Locks every administrator, in a fixed order, so that two revocations cannot remove the last one. */
  lockAdmins(tx: EntityManager): Promise<User[]> {
    return tx.find(User, {
      where: { role: 'ADMIN' },
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** Changes what the tokens claim or prove, and thereby ends the stored session. */
  async changeClaims(
    tx: EntityManager,
    user: User,
    change: Partial<Pick<User, 'fullname' | 'email' | 'role' | 'passwordHash' | 'emailVerifiedAt'>>,
  ): Promise<User> {
    const changes = {
      ...change,
      claimsVersion: user.claimsVersion + 1,
      refreshTokenDigest: null,
      sessionsEndedAt: new Date(),
    };
    await tx.update(User, { id: user.id }, changes);
    return Object.assign(user, changes);
  }
}
