import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, Raw, Repository } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { type LockedUser, User } from './user.entity.js';

type NewUser = Pick<User, 'fullname' | 'email' | 'role' | 'passwordHash'> & Partial<Pick<User, 'language'>>;

/** Lock for changes. `FOR UPDATE` would also block inserts of rows that refer to the user, which can deadlock. */
const LOCK = { mode: 'for_no_key_update' } as const;

@Injectable()
export class UsersService {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** @throws QueryFailedError of the constraint `users_email_key` (409) if the email is taken */
  async create(tx: EntityManager, user: NewUser): Promise<LockedUser> {
    return (await tx.save(tx.create(User, user))) as LockedUser;
  }

  /** Returns false if the email is taken, also by a user that is created at the same moment. */
  async createUnlessTaken(user: NewUser): Promise<boolean> {
    const { identifiers } = await this.users.createQueryBuilder().insert().values(user).orIgnore().execute();
    return identifiers[0] !== undefined;
  }

  findById(id: number): Promise<User | null> {
    return this.users.findOneBy({ id });
  }

  /** @throws EntityNotFoundError if the user does not exist, for example after a restore of an older backup */
  findOrFail(id: number): Promise<User> {
    return this.users.findOneByOrFail({ id });
  }

  findByEmail(email: string, manager = this.users.manager): Promise<User | null> {
    return manager.findOneBy(User, whereEmail(email));
  }

  /** Reads the role from the database: a token contains the role at the time of its issue. */
  async isAdmin(authUser: AuthUser | undefined): Promise<boolean> {
    return authUser?.role === 'ADMIN' && (await this.users.existsBy({ id: authUser.id, role: 'ADMIN' }));
  }

  findAdmins(): Promise<User[]> {
    return this.users.find({ where: { role: 'ADMIN' }, order: { id: 'ASC' } });
  }

  lock(tx: EntityManager, id: number): Promise<LockedUser | null> {
    return this.#lockOne(tx, { id });
  }

  lockByEmail(tx: EntityManager, email: string): Promise<LockedUser | null> {
    return this.#lockOne(tx, whereEmail(email));
  }

  async lockAdmins(tx: EntityManager): Promise<LockedUser[]> {
    const admins = await tx.find(User, { where: { role: 'ADMIN' }, order: { id: 'ASC' }, lock: LOCK });
    return admins as LockedUser[];
  }

  /** Changes a user, but does not end its sessions. A taken email fails like in `create`. */
  async change(tx: EntityManager, user: LockedUser, changes: Partial<User>): Promise<LockedUser> {
    await tx.update(User, { id: user.id }, changes);
    return Object.assign(tx.create(User), user, changes);
  }

  async #lockOne(tx: EntityManager, where: FindOptionsWhere<User>): Promise<LockedUser | null> {
    return (await tx.findOne(User, { where, lock: LOCK })) as LockedUser | null;
  }
}

/** Compares like the unique index `users_email_key`, regardless of case. */
function whereEmail(email: string): FindOptionsWhere<User> {
  return { email: Raw((column) => `lower(${column}) = lower(:email)`, { email }) };
}
