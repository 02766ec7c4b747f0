import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Account, UsersService } from '../users/users.service.js';

/** What became of a request to change who is an administrator. */
export type RoleChange = 'changed' | 'unchanged' | 'unknown account' | 'last administrator';

/** Who is an administrator. A change of role ends the account's session. */
@Injectable()
export class AdminAccountsService {
  readonly #logger = new Logger('AdminAccounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
  ) {}

  list(): Promise<Account[]> {
    return this.users.findAdmins();
  }

  async grant(email: string): Promise<Exclude<RoleChange, 'last administrator'>> {
    return this.dataSource.transaction(async (tx) => {
      const account = await this.users.lockByEmail(tx, email);
      if (account === null) return 'unknown account';
      if (account.role === 'ADMIN') return 'unchanged';
      await this.users.change(tx, account, { role: 'ADMIN' });
      this.#logger.log(`account ${account.id} is now an administrator`);
      return 'changed';
    });
  }

  /** Takes the role away, except from the last administrator. */
  async revoke(email: string): Promise<RoleChange> {
    return this.dataSource.transaction(async (tx) => {
      const admins = await this.users.lockAdmins(tx);
      const account = await this.users.lockByEmail(tx, email);
      if (account === null) return 'unknown account';
      if (account.role !== 'ADMIN') return 'unchanged';
      if (admins.length === 1) return 'last administrator';
      await this.users.change(tx, account, { role: 'USER' });
      return 'changed';
    });
  }
}
