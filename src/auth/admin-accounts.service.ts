import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { violatedConstraint } from '../common/database-errors.js';
import { Env } from '../config/env.js';
import { type Account, UsersService } from '../users/users.service.js';
import { PasswordsService } from './passwords.service.js';

/** What became of a request to change who is an administrator. */
export type RoleChange = 'changed' | 'unchanged' | 'unknown account' | 'last administrator';

/** Who is an administrator: settled at start by the settings, later by `npm run admin`. */
@Injectable()
export class AdminAccountsService implements OnApplicationBootstrap {
  readonly #logger = new Logger('AdminAccounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly passwords: PasswordsService,
    private readonly env: Env,
  ) {}

  /** Creates the account of ADMIN_EMAIL, or makes an existing one an administrator; its password stays. */
  async onApplicationBootstrap(): Promise<void> {
    const { admin } = this.env;
    if (admin === undefined) return;
    if ((await this.grant(admin.email)) === 'unknown account') {
      const created = await this.#create(admin.email, admin.password);
      if (!created) await this.grant(admin.email);
    }
  }

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

  /** @returns false when another process created the account in the meantime */
  async #create(email: string, password: string): Promise<boolean> {
    const passwordHash = await this.passwords.hash(password);
    try {
      await this.dataSource.transaction((tx) =>
        this.users.create(tx, { email, fullname: 'Administrator', role: 'ADMIN', passwordHash }),
      );
    } catch (error) {
      if (violatedConstraint(error) === 'users_email_key') return false;
      throw error;
    }
    this.#logger.log('the administrator of ADMIN_EMAIL was created');
    return true;
  }
}
