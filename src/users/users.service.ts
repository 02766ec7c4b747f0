import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, Raw, Repository } from 'typeorm';
import { User } from './user.entity.js';

export type Account = Readonly<User>;

/** Lock for changes. `FOR UPDATE` would also block inserts of rows that refer to the account, which can deadlock. */
const LOCK = { mode: 'for_no_key_update' } as const;

@Injectable()
export class UsersService {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** @throws QueryFailedError of the constraint `users_email_key` if the e-mail is taken */
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

  lock(tx: EntityManager, id: number): Promise<Account | null> {
    return tx.findOne(User, { where: { id }, lock: LOCK });
  }

  lockByEmail(tx: EntityManager, email: string): Promise<Account | null> {
    return tx.findOne(User, { where: hasEmail(email), lock: LOCK });
  }

  lockAdmins(tx: EntityManager): Promise<Account[]> {
    return tx.find(User, { where: { role: 'ADMIN' }, order: { id: 'ASC' }, lock: LOCK });
  }

  /** Changes a locked account, but does not end its sessions. @throws like `create` */
  async change(tx: EntityManager, account: Account, change: Partial<Account>): Promise<Account> {
    await tx.update(User, { id: account.id }, change);
    return { ...account, ...change };
  }
}

/** Compares like the unique index `users_email_key`, regardless of case. */
function hasEmail(email: string): FindOptionsWhere<User> {
  return { email: Raw((column) => `lower(${column}) = lower(:email)`, { email }) };
}
