import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { violatedConstraint } from '../common/database-errors.js';
import { Env } from '../config/env.js';
import { UsersService } from '../users/users.service.js';
import { AdminAccountsService } from './admin-accounts.service.js';
import { PasswordsService } from './passwords.service.js';

/** Makes sure at start that the owner of ADMIN_EMAIL is an administrator (contract 11). */
@Injectable()
export class AdminBootstrapService implements OnApplicationBootstrap {
  readonly #logger = new Logger('AdminAccounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly passwords: PasswordsService,
    private readonly admins: AdminAccountsService,
    private readonly env: Env,
  ) {}

  /** An existing account keeps its password. Anybody may have registered an address that is not verified. */
  async onApplicationBootstrap(): Promise<void> {
    const { admin } = this.env;
    if (admin === undefined) return;
    const account = await this.users.findByEmail(admin.email);
    if (account === null) await this.#create(admin.email, admin.password);
    else if (account.emailVerifiedAt !== null) await this.admins.grant(admin.email);
    else if (account.role !== 'ADMIN')
      this.#logger.warn(
        'the account of ADMIN_EMAIL is not an administrator: its e-mail address is not verified, so anybody may ' +
          'have registered it. If it is yours, run: npm run admin -- grant EMAIL',
      );
  }

  /** Creates the account, unless another process or person has just done so. */
  async #create(email: string, password: string): Promise<void> {
    const passwordHash = await this.passwords.hash(password);
    try {
      await this.dataSource.transaction((tx) =>
        this.users.create(tx, { email, fullname: 'Administrator', role: 'ADMIN', passwordHash }),
      );
      this.#logger.log('the administrator of ADMIN_EMAIL was created');
    } catch (error) {
      if (violatedConstraint(error) !== 'users_email_key') throw error;
    }
  }
}
