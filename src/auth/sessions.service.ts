import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { type Account, UsersService } from '../users/users.service.js';
import { refreshTokenDigest, TokensService } from './tokens.service.js';

/** A signed-in user with the two tokens that prove it. */
export interface Session {
  readonly principal: Principal;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Begins sessions. An account has one: its refresh token replaces the former one. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly users: UsersService,
    private readonly tokens: TokensService,
  ) {}

  /**
   * Signs both tokens for an account and stores the digest of the refresh token.
   * @throws Failure 400 when the password or a claim was changed after the account was read: the tokens must not
   *   outlive that change
   */
  async open(tx: EntityManager, account: Account): Promise<Session> {
    const accessToken = this.tokens.signAccess(account);
    const refreshToken = this.tokens.signRefresh(account);
    const stored = await this.users.storeRefreshToken(tx, account, refreshTokenDigest(refreshToken));
    if (!stored) throw failures.credentials();
    return { principal: account, accessToken, refreshToken };
  }

  /** Puts both tokens of a session into their cookies. */
  setCookies(response: Response, { accessToken, refreshToken }: Session): void {
    this.tokens.setAccessCookie(response, accessToken);
    this.tokens.setRefreshCookie(response, refreshToken);
  }
}
