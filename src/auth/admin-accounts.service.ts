import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Role } from '../common/current-user.decorator.js';
import { violatedConstraint } from '../common/database-errors.js';
import { UsersService } from '../users/users.service.js';
import { hashPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';

export type RoleChange = 'changed' | 'unchanged' | 'unknown account' | 'last administrator';

/** Grants and revokes the role of administrator (contract 11.13). A change of role ends all sessions of the account. */
@Injectable()
export class AdminAccountsService {
  readonly #logger = new Logger('AdminAccounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly sessions: SessionsService,
  ) {}

  /** Creates the account of ADMIN_EMAIL. Promotes an existing account if its e-mail is verified, and keeps its password. */
  async ensureAdmin(email: string, password: string): Promise<void> {
    const account = await this.users.findByEmail(email);
    if (account === null) await this.#create(email, password);
    else if (account.emailVerifiedAt !== null) await this.changeRole(email, 'ADMIN');
    else if (account.role !== 'ADMIN')
      this.#logger.warn(
        'the account of ADMIN_EMAIL is not an administrator: its e-mail address is not verified, so anybody may ' +
          'have registered it. If it is yours, run: npm run admin -- grant EMAIL',
      );
  }

  async changeRole(email: string, role: Role): Promise<RoleChange> {
    return this.dataSource.transaction(async (tx) => {
      // Lock all administrators before a revocation, so that parallel revocations cannot remove the last one.
      const admins = role === 'USER' ? await this.users.lockAdmins(tx) : [];
      const account = await this.users.lockByEmail(tx, email);
      if (account === null) return 'unknown account';
      if (account.role === role) return 'unchanged';
      if (role === 'USER' && admins.length === 1) return 'last administrator';
      await this.users.change(tx, account, { role });
      await this.sessions.endAll(tx, account.id);
      this.#logger.log(`account ${account.id} now has the role ${role}`);
      return 'changed';
    });
  }

  /** Creates the account, unless another process has just created it. */
  async #create(email: string, password: string): Promise<void> {
    const passwordHash = await hashPassword(password);
    const account = { email, fullname: 'Administrator', role: 'ADMIN', passwordHash } as const;
    try {
      await this.dataSource.transaction((tx) => this.users.create(tx, account));
      this.#logger.log('the administrator of ADMIN_EMAIL was created');
    } catch (error) {
      if (violatedConstraint(error) !== 'users_email_key') throw error;
    }
  }
}
