import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Account, UsersService } from '../users/users.service.js';

/** What became of a request to change who is an administrator. */
export type RoleChange = 'changed' | 'unchanged' | 'unknown account' | 'last administrator';

/** Who is an administrator. */
@Injectable()
export class AdminAccountsService {
  readonly #logger = new Logger('AdminAccounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
  ) {}

  list(): Promise<Account[]> {
    return this.users.admins();
  }

  async grant(email: string): Promise<Exclude<RoleChange, 'last administrator'>> {
    const before = await this.users.findByEmail(email);
    if (before?.role === 'ADMIN') return 'unchanged';
    const account = await this.dataSource.transaction((tx) => this.users.setRole(tx, email, 'ADMIN'));
    if (account === null) return 'unknown account';
    this.#logger.log(`account ${account.id} is now an administrator`);
    return 'changed';
  }

  /** Takes the role away, except from the last administrator. */
  async revoke(email: string): Promise<RoleChange> {
    return this.dataSource.transaction(async (tx) => {
      const adminIds = await this.users.lockAdminIds(tx);
      const account = await this.users.findByEmail(email);
      if (account === null) return 'unknown account';
      if (!adminIds.includes(account.id)) return 'unchanged';
      if (adminIds.length === 1) return 'last administrator';
      await this.users.setRole(tx, email, 'USER');
      return 'changed';
    });
  }
}
