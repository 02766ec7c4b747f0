import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Role } from '../common/access.js';
import type { Env } from '../config/env.js';
import { UsersService } from '../users/users.service.js';
import { hashPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';

/** Result of a change of role. Every result except `changed` says why the role was not changed. */
export type RoleChangeResult =
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

  /**
   * Creates the user of ADMIN_EMAIL. Promotes an existing user if their email is verified, and keeps the password. Logs a
   * warning if the shop has no administrator afterwards.
   */
  async ensureAdmin({ adminEmail, adminPassword }: Env): Promise<void> {
    if (adminEmail !== undefined && adminPassword !== undefined)
      await this.#createOrPromote(adminEmail, adminPassword);
    if ((await this.users.findAdmins()).length > 0) return;
    this.#logger.warn(
      'there is no administrator: set ADMIN_EMAIL and ADMIN_PASSWORD, or register an account, verify its email ' +
        'address and run: npm run admin -- grant EMAIL',
    );
  }

  async #createOrPromote(email: string, password: string): Promise<void> {
    if (await this.#create(email, password)) this.#logger.log('the administrator of ADMIN_EMAIL was created');
    else if ((await this.changeRole(email, 'ADMIN')) === 'unverified email')
      this.#logger.warn(
        'the account of ADMIN_EMAIL is not an administrator: its email address is not verified, so anybody may ' +
          'have registered it. If it is yours, run: npm run admin -- grant EMAIL --unverified',
      );
  }

  /** Returns false if the email is taken, also by another process that starts at the same time. */
  async #create(email: string, password: string): Promise<boolean> {
    // Look first: an insert that does nothing still uses up an id.
    if ((await this.users.findByEmail(email)) !== null) return false;
    const passwordHash = await hashPassword(password);
    return this.users.createUnlessTaken({ email, fullname: 'Administrator', role: 'ADMIN', passwordHash });
  }

  /** @param mayBeUnverified true to promote an account that somebody else may have registered with this address */
  async changeRole(email: string, role: Role, { mayBeUnverified = false } = {}): Promise<RoleChangeResult> {
    const result = await this.dataSource.transaction(async (tx) => {
      // Lock all administrators first, so that parallel revocations cannot remove the last one.
      const admins = await this.users.lockAdmins(tx);
      const user = await this.users.lockByEmail(tx, email);
      if (user === null) return 'unknown account';
      if (user.role === role) return 'unchanged';
      if (role === 'ADMIN' && user.emailVerifiedAt === null && !mayBeUnverified) return 'unverified email';
      if (role === 'USER' && admins.length === 1) return 'last administrator';
      await this.sessions.changeUserAndEndAll(tx, user, { role });
      return user;
    });
    if (typeof result === 'string') return result;
    this.#logger.log(`account ${result.id} now has the role ${role}`);
    return 'changed';
  }
}
