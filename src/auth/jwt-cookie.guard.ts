import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { TokenExpiredError } from '@nestjs/jwt';
import { AuthGuard } from '@nestjs/passport';
import type { Response } from 'express';
import { Access, type AccessLevel } from '../common/access.decorator.js';
import type { AuthenticatedRequest } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { isSafeMethod } from '../common/safe-methods.js';
import { AdmissionService } from './admission.service.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { JWT_COOKIE } from './jwt-cookie.strategy.js';
import { SessionsService } from './sessions.service.js';
import { TokensService } from './tokens.service.js';

/**
 * Admits callers with a valid access cookie, unless the route declares that it needs none. A request of a customer that
 * changes something also needs a session that has not ended; `AdminGuard` checks this for administrators. Global.
 *
 * A missing or expired access cookie is 401, a malformed one 400 (contract 4.4). passport-jwt verifies each token once.
 */
@Injectable()
export class JwtCookieGuard extends AuthGuard(JWT_COOKIE) {
  constructor(
    private readonly reflector: Reflector,
    private readonly admission: AdmissionService,
    private readonly tokens: TokensService,
    private readonly sessions: SessionsService,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.#accessOf(context);
    if (access === 'none' || access === 'refresh cookie') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    const response = http.getResponse<Response>();
    if (!this.admission.admit(access, request, response)) {
      const token = readCookie(request, ACCESS_COOKIE);
      if (token === null) throw failures.missingAccessToken();
      await super.canActivate(context);
      const caller = (request as Partial<AuthenticatedRequest>).user;
      if (caller === undefined) this.admission.ignoreCookie(access, request, response);
      else this.tokens.rememberVerified(token, caller);
    }
    if (access === 'user' && !isSafeMethod(request.method)) {
      const { isLive } = await this.sessions.readState(request.user);
      if (!isLive) throw failures.missingAccessToken();
    }
    return true;
  }

  /** Returns the caller that passport-jwt verified; undefined for an invalid cookie of a route that ignores it. */
  override handleRequest<TUser>(
    error: unknown,
    user: TUser | false,
    info: unknown,
    context: ExecutionContext,
  ): TUser {
    if (user !== false && error === null) return user;
    if (error === null && this.admission.isCookieOptional(this.#accessOf(context))) return undefined as TUser;
    throw info instanceof TokenExpiredError ? failures.missingAccessToken() : failures.malformedAccessToken();
  }

  #accessOf(context: ExecutionContext): AccessLevel {
    return this.reflector.getAllAndOverride(Access, [context.getHandler(), context.getClass()]);
  }
}
