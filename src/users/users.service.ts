import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, Raw, Repository } from 'typeorm';
import { User } from './user.entity.js';

/** An account as other modules read it. Only `UsersService` changes it. */
export type Account = Readonly<User>;

/** The change that ends the session of an account. */
export const NO_SESSION = { sessionId: null, refreshTokenDigest: null } as const;

/**
 * The lock of every change. Other transactions can still insert rows that refer to the account; with `FOR UPDATE` they
 * would wait, and two such waits can be a deadlock.
 */
const LOCK = { mode: 'for_no_key_update' } as const;

/** Accounts and the one session that each of them may have. */
@Injectable()
export class UsersService {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** @throws QueryFailedError of the constraint `users_email_key` when the e-mail is taken */
  create(
    tx: EntityManager,
    account: Pick<Account, 'fullname' | 'email' | 'role' | 'passwordHash'>,
  ): Promise<Account> {
    return tx.save(tx.create(User, account));
  }

  findById(id: number): Promise<Account | null> {
    return this.users.findOneBy({ id });
  }

  findByEmail(email: string): Promise<Account | null> {
    return this.users.findOneBy(hasEmail(email));
  }

  findAdmins(): Promise<Account[]> {
    return this.users.find({ where: { role: 'ADMIN' }, order: { id: 'ASC' } });
  }

  /** Reads an account, which no other transaction can change until `tx` ends. */
  lock(tx: EntityManager, id: number): Promise<Account | null> {
    return tx.findOne(User, { where: { id }, lock: LOCK });
  }

  lockByEmail(tx: EntityManager, email: string): Promise<Account | null> {
    return tx.findOne(User, { where: hasEmail(email), lock: LOCK });
  }

  /** Locks every administrator, by id, so that two revocations cannot remove the last one. */
  lockAdmins(tx: EntityManager): Promise<Account[]> {
    return tx.find(User, { where: { role: 'ADMIN' }, order: { id: 'ASC' }, lock: LOCK });
  }

  /**
   * A change of name, e-mail, role or password comes with `NO_SESSION` or a new session: the tokens would be stale.
   * @param account that `tx` has locked or created
   * @returns the account as it is now
   * @throws QueryFailedError of the constraint `users_email_key` when the e-mail is taken
   */
  async change(tx: EntityManager, account: Account, change: Partial<Account>): Promise<Account> {
    await tx.update(User, { id: account.id }, change);
    return { ...account, ...change };
  }

  /**
   * Changes an account that was read without a lock. Changes nothing if its name, e-mail, role or password changed since.
   * @returns whether the account was changed
   */
  async changeIfSame(account: Account, change: Partial<Account>): Promise<boolean> {
    const { id, fullname, email, role, passwordHash } = account;
    const { affected } = await this.users.update({ id, fullname, email, role, passwordHash }, change);
    return affected === 1;
  }

  /** Ends a session if it is the live one of its account. One statement, so that a later session stays. */
  async endSession(id: number, sessionId: string): Promise<void> {
    await this.users.update({ id, sessionId }, NO_SESSION);
  }
}

/** As the unique index `users_email_key` compares them: without regard to case. */
function hasEmail(email: string): FindOptionsWhere<User> {
  return { email: Raw((column) => `lower(${column}) = lower(:email)`, { email }) };
}
