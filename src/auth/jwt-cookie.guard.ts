import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { TokenExpiredError } from '@nestjs/jwt';
import { AuthGuard } from '@nestjs/passport';
import type { Response } from 'express';
import type { AuthenticatedRequest } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { Public } from '../common/public.decorator.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { JWT_COOKIE } from './jwt-cookie.strategy.js';
import { TokensService } from './tokens.service.js';

/**
 * Closes every route that is not `@Public()` to callers without a valid access cookie: 401 when the cookie is missing
 * or expired, 400 when it is malformed (contract 4.4). passport-jwt verifies each token once.
 */
@Injectable()
export class JwtCookieGuard extends AuthGuard(JWT_COOKIE) {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: TokensService,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride(Public, [context.getHandler(), context.getClass()])) return true;
    const http = context.switchToHttp();
    http.getResponse<Response>().setHeader('Cache-Control', 'private, no-cache');
    const request = http.getRequest<AuthenticatedRequest>();
    const token = readCookie(request, ACCESS_COOKIE);
    if (token === null) throw failures.missingAccessToken();
    const caller = this.tokens.verifiedCaller(token);
    if (caller === undefined) {
      await super.canActivate(context);
      this.tokens.rememberVerified(token, request.user);
    } else request.user = caller;
    return true;
  }

  override handleRequest<TUser>(error: unknown, user: TUser | false, info: unknown): TUser {
    if (user !== false && error === null) return user;
    throw info instanceof TokenExpiredError ? failures.missingAccessToken() : failures.malformedAccessToken();
  }
}
