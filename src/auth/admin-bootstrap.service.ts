import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { violatedConstraint } from '../common/database-errors.js';
import { Env } from '../config/env.js';
import { UsersService } from '../users/users.service.js';
import { AdminAccountsService } from './admin-accounts.service.js';
import { PasswordsService } from './passwords.service.js';

/** Settles at start that the account of ADMIN_EMAIL exists and is an administrator. */
@Injectable()
export class AdminBootstrapService implements OnApplicationBootstrap {
  readonly #logger = new Logger('AdminAccounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly accounts: AdminAccountsService,
    private readonly users: UsersService,
    private readonly passwords: PasswordsService,
    private readonly env: Env,
  ) {}

  /** Creates the account, or makes an existing one an administrator; its password stays. */
  async onApplicationBootstrap(): Promise<void> {
    const { admin } = this.env;
    if (admin === undefined) return;
    if ((await this.accounts.grant(admin.email)) !== 'unknown account') return;
    const created = await this.#create(admin.email, admin.password);
    if (!created) await this.accounts.grant(admin.email);
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
