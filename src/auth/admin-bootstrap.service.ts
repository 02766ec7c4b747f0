import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { violatedConstraint } from '../common/database-errors.js';
import { Env } from '../config/env.js';
import { UsersService } from '../users/users.service.js';
import { PasswordsService } from './passwords.service.js';

/** Makes sure at start that the owner of ADMIN_EMAIL is an administrator (contract 11). */
@Injectable()
export class AdminBootstrapService implements OnApplicationBootstrap {
  readonly #logger = new Logger('AdminAccounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly passwords: PasswordsService,
    private readonly env: Env,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { admin } = this.env;
    if (admin === undefined) return;
    if ((await this.users.findByEmail(admin.email)) === null) await this.#create(admin.email, admin.password);
    await this.#raise(admin.email);
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

  /** Gives an existing account the role; its password stays. Anybody may have registered an unverified address. */
  async #raise(email: string): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const account = await this.users.lockByEmail(tx, email);
      if (account === null || account.role === 'ADMIN') return;
      if (account.emailVerifiedAt === null) {
        this.#logger.warn(
          'the account of ADMIN_EMAIL is not an administrator: its e-mail address is not verified, so anybody may ' +
            'have registered it. If it is yours, run: npm run admin -- grant EMAIL',
        );
        return;
      }
      await this.users.change(tx, account, { role: 'ADMIN' });
      this.#logger.log(`account ${account.id} of ADMIN_EMAIL is now an administrator`);
    });
  }
}
