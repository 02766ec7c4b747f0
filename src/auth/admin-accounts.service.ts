import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Role } from '../common/access/auth-user.js';
import { violatedConstraint } from '../common/errors/database-errors.js';
import { type LockedUser, UsersService } from '../users/users.service.js';
import { hashPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';

export type RoleChange =
  'changed' | 'unchanged' | 'unknown account' | 'unverified email' | 'last administrator';

/** Grants and revokes the role of administrator (contract 11.13). A change of role ends all sessions of the user. */
@Injectable()
export class AdminAccountsService {
  readonly #logger = new Logger('AdminAccounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly sessions: SessionsService,
  ) {}

  /** Creates the user of ADMIN_EMAIL. Promotes an existing user if their email is verified, and keeps the password. */
  async ensureAdmin(email: string, password: string): Promise<void> {
    let change = await this.grant(email);
    // Another process, or a registration, may create the account at the same moment.
    if (change === 'unknown account' && !(await this.#create(email, password)))
      change = await this.grant(email);
    if (change === 'unverified email')
      this.#logger.warn(
        'the account of ADMIN_EMAIL is not an administrator: its email address is not verified, so anybody may ' +
          'have registered it. If it is yours, run: npm run admin -- grant EMAIL --unverified',
      );
  }

  async warnWithoutAdmin(): Promise<void> {
    if ((await this.users.findAdmins()).length > 0) return;
    this.#logger.warn(
      'there is no administrator: set ADMIN_EMAIL and ADMIN_PASSWORD, or register an account, verify its email ' +
        'address and run: npm run admin -- grant EMAIL',
    );
  }

  /** @param mayBeUnverified true to promote an account that somebody else may have registered with this address */
  grant(email: string, { mayBeUnverified = false } = {}): Promise<RoleChange> {
    return this.dataSource.transaction(async (tx) => {
      const user = await this.users.lockByEmail(tx, email);
      if (user === null) return 'unknown account';
      if (user.role !== 'ADMIN' && user.emailVerifiedAt === null && !mayBeUnverified)
        return 'unverified email';
      return this.#changeRole(tx, user, 'ADMIN');
    });
  }

  revoke(email: string): Promise<RoleChange> {
    return this.dataSource.transaction(async (tx) => {
      // Lock all administrators first, so that parallel revocations cannot remove the last one.
      const admins = await this.users.lockAdmins(tx);
      const user = await this.users.lockByEmail(tx, email);
      if (user === null) return 'unknown account';
      if (user.role === 'ADMIN' && admins.length === 1) return 'last administrator';
      return this.#changeRole(tx, user, 'USER');
    });
  }

  async #changeRole(tx: EntityManager, user: LockedUser, role: Role): Promise<RoleChange> {
    if (user.role === role) return 'unchanged';
    await this.users.change(tx, user, { role });
    await this.sessions.endAll(tx, user);
    this.#logger.log(`account ${user.id} now has the role ${role}`);
    return 'changed';
  }

  /** Returns false if the user exists already. */
  async #create(email: string, password: string): Promise<boolean> {
    const passwordHash = await hashPassword(password);
    const user = { email, fullname: 'Administrator', role: 'ADMIN', passwordHash } as const;
    try {
      await this.dataSource.transaction((tx) => this.users.create(tx, user));
      this.#logger.log('the administrator of ADMIN_EMAIL was created');
      return true;
    } catch (error) {
      if (violatedConstraint(error) !== 'users_email_key') throw error;
      return false;
    }
  }
}
