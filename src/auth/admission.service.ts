import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { AccessLevel } from '../common/access.decorator.js';
import { Env } from '../config/env.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { TokensService } from './tokens.service.js';

/** Admits requests without a look at the signature or the database, for `JwtCookieGuard` and the shortcut of the product list. */
@Injectable()
export class AdmissionService {
  constructor(
    private readonly tokens: TokensService,
    private readonly env: Env,
  ) {}

  /** Returns true if a route ignores a missing or invalid access cookie. */
  isCookieOptional(access: AccessLevel): boolean {
    return access === 'catalog' && this.env.catalogAccess === 'public';
  }

  /**
   * Admits a request whose access token was verified before, or that has no cookie and needs none. Sets `request.user`
   * and Cache-Control.
   * @returns false if the cookie must be verified first
   */
  admit(access: AccessLevel, request: Request, response: Response): boolean {
    const token = readCookie(request, ACCESS_COOKIE);
    const caller = token === null ? undefined : this.tokens.findVerified(token);
    const isAnonymous = token === null && this.isCookieOptional(access);
    response.setHeader('Cache-Control', isAnonymous ? 'no-cache' : 'private, no-cache');
    if (caller !== undefined) request.user = caller;
    return caller !== undefined || isAnonymous;
  }

  /** Treats a request with an invalid cookie like a request without a cookie. */
  ignoreCookie(access: AccessLevel, request: Request, response: Response): void {
    request.cookies = { ...(request.cookies as object), [ACCESS_COOKIE]: undefined };
    this.admit(access, request, response);
  }
}
