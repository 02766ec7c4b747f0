import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal, Role } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import type { User } from './user.entity.js';
import { type FoundUser, UsersRepository } from './users.repository.js';

/** An account as other modules see it: the claims of its tokens, and the version that they were read at. */
export interface Account extends Principal {
  readonly claimsVersion: number;
  readonly emailVerified: boolean;
  /** Tokens issued before belong to sessions that have ended; null while none has. */
  readonly sessionsEndedAt: Date | null;
}

/** An account with what proves its owner. */
export interface AccountWithPassword extends Account {
  readonly passwordHash: string;
}

/** Accounts and the refresh token that each one has. */
@Injectable()
export class UsersService {
  constructor(private readonly users: UsersRepository) {}

  /** @throws QueryFailedError of `users_email_key` (409) when the e-mail is taken */
  async create(
    tx: EntityManager,
    user: {
      readonly fullname: string;
      readonly email: string;
      readonly role: Role;
      readonly passwordHash: string;
    },
  ): Promise<Account> {
    return toAccount(await this.users.insert(tx, user));
  }

  async findByEmail(email: string): Promise<AccountWithPassword | null> {
    const user = await this.users.findByEmail(email);
    return user === null ? null : { ...toAccount(user), passwordHash: user.passwordHash };
  }

  async findWithPassword(id: number): Promise<AccountWithPassword | null> {
    const user = await this.users.findById(id);
    return user === null ? null : { ...toAccount(user), passwordHash: user.passwordHash };
  }

  /** Records that the owner has shown to read the mail of the present address. */
  async markEmailVerified(tx: EntityManager, id: number): Promise<Account | null> {
    const user = await this.users.lock(tx, id);
    return user === null ? null : toAccount(await this.users.markEmailVerified(tx, user));
  }

  /** An account that nobody else can change until the transaction ends. */
  async findLocked(tx: EntityManager, id: number): Promise<Account | null> {
    const user = await this.users.lock(tx, id);
    return user === null ? null : toAccount(user);
  }

  /**
   * Changes name or e-mail, each only if given; a new e-mail is unverified. Ends the account's session unless nothing
   * changes.
   * @param account whose owner proved its password, if there is an e-mail
   * @throws Failure 400 when that password was changed meanwhile; QueryFailedError of `users_email_key` (409)
   */
  async changeProfile(
    tx: EntityManager,
    account: AccountWithPassword,
    change: { readonly fullname?: string; readonly email?: string },
  ): Promise<{ readonly account: Account; readonly isNewEmail: boolean }> {
    const user = await this.users.lock(tx, account.id);
    if (user === null) throw failures.missingAccessToken();
    if (change.email !== undefined) refuseUnlessSamePassword(user, account);
    const { fullname = user.fullname, email = user.email } = change;
    const isNewEmail = email !== user.email;
    if (fullname === user.fullname && !isNewEmail) return { account: toAccount(user), isNewEmail };
    const changed = await this.users.changeClaims(tx, user, {
      fullname,
      email,
      ...(isNewEmail && { emailVerifiedAt: null }),
    });
    return { account: toAccount(changed), isNewEmail };
  }

  /**
   * Sets a password whose owner proved the former one, and ends the account's session.
   * @throws Failure 400 when that one was changed meanwhile
   */
  async changePassword(
    tx: EntityManager,
    account: AccountWithPassword,
    passwordHash: string,
  ): Promise<Account> {
    const user = await this.users.lock(tx, account.id);
    if (user === null) throw failures.missingAccessToken();
    refuseUnlessSamePassword(user, account);
    return toAccount(await this.users.changeClaims(tx, user, { passwordHash }));
  }

  /** Sets a password whose owner has lost the former one, and ends the account's session. */
  async resetPassword(tx: EntityManager, id: number, passwordHash: string): Promise<void> {
    const user = await this.users.lock(tx, id);
    if (user !== null) await this.users.changeClaims(tx, user, { passwordHash });
  }

  async admins(): Promise<Account[]> {
    return (await this.users.findAdmins()).map(toAccount);
  }

  /**
   * Makes a refresh token the only valid one of an account.
   * @param digest SHA-256 of the token
   * @returns false when password, e-mail, name or role have changed since the account was read
   */
  storeRefreshToken(
    tx: EntityManager,
    account: Pick<Account, 'id' | 'claimsVersion'>,
    digest: Buffer,
  ): Promise<boolean> {
    return this.users.storeRefreshTokenDigest(tx, account, digest);
  }

  /** SHA-256 of the valid refresh token, null without one. */
  async refreshTokenDigest(id: number): Promise<Buffer | null> {
    return (await this.users.findById(id))?.refreshTokenDigest ?? null;
  }

  async forgetRefreshToken(id: number): Promise<void> {
    await this.users.clearRefreshTokenDigest(id);
  }

  /**
   * Gives a role and ends the account's session, whose claims would be stale.
   * @returns null when no account has the e-mail
   */
  async setRole(tx: EntityManager, email: string, role: Role): Promise<Account | null> {
    const user = await this.users.lockByEmail(tx, email);
    if (user === null) return null;
    return toAccount(user.role === role ? user : await this.users.changeClaims(tx, user, { role }));
  }

  /** Ids of all administrators, locked until the transaction ends. */
  async lockAdminIds(tx: EntityManager): Promise<number[]> {
    return (await this.users.lockAdmins(tx)).map(({ id }) => id);
  }
}

/** What a password proved holds only while it is the account's. */
function refuseUnlessSamePassword(user: User, proved: AccountWithPassword): void {
  if (user.passwordHash !== proved.passwordHash) throw failures.credentials();
}

function toAccount(user: Omit<FoundUser, 'passwordHash'>): Account {
  const { id, fullname, email, role, claimsVersion, emailVerifiedAt, sessionsEndedAt } = user;
  return {
    id,
    fullname,
    email,
    role,
    claimsVersion,
    emailVerified: emailVerifiedAt !== null,
    sessionsEndedAt,
  };
}
