import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
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
   * @returns null when the password or a claim was changed after the account was read: tokens must not outlive that
   */
  async open(tx: EntityManager, account: Account): Promise<Session | null> {
    const accessToken = this.tokens.signAccess(account);
    const refreshToken = this.tokens.signRefresh(account);
    const stored = await this.users.storeRefreshToken(tx, account, refreshTokenDigest(refreshToken));
    return stored ? { principal: account, accessToken, refreshToken } : null;
  }

  /** The same for an account that the transaction has inserted or locked, so that nobody else can change it. */
  async openLocked(tx: EntityManager, account: Account): Promise<Session> {
    const session = await this.open(tx, account);
    if (session === null) throw new Error('an account changed under its lock');
    return session;
  }

  /** Puts both tokens of a session into their cookies. */
  setCookies(response: Response, { accessToken, refreshToken }: Session): void {
    this.tokens.setAccessCookie(response, accessToken);
    this.tokens.setRefreshCookie(response, refreshToken);
  }
}
