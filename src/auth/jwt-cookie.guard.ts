import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { TokenExpiredError } from '@nestjs/jwt';
import { AuthGuard } from '@nestjs/passport';
import type { Response } from 'express';
import type { AuthenticatedRequest } from '../common/current-user.decorator.js';
import { Failure, failures } from '../common/errors.js';
import { Public } from '../common/public.decorator.js';
import { JWT_COOKIE } from './jwt-cookie.strategy.js';
import { RememberedTokens } from './remembered-tokens.js';
import { ACCESS_COOKIE, readCookie } from './tokens.service.js';

/**
 * Closes every route to callers without a valid access cookie, unless it is `@Public()`: 401 when the cookie is
 * missing or expired, 400 when it is no token of ours (interface.md 4.4).
 */
@Injectable()
export class JwtCookieGuard extends AuthGuard(JWT_COOKIE) {
  constructor(
    private readonly reflector: Reflector,
    private readonly remembered: RememberedTokens,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride(Public, [context.getHandler(), context.getClass()])) return true;
    const http = context.switchToHttp();
    http.getResponse<Response>().setHeader('Cache-Control', 'private, no-cache');
    const request = http.getRequest<AuthenticatedRequest>();
    const token = readCookie(request, ACCESS_COOKIE);
    const caller = token === null ? null : this.remembered.find(token);
    if (caller !== null) {
      request.user = caller;
      return true;
    }
    const isAllowed = (await super.canActivate(context)) as boolean;
    if (isAllowed && token !== null) this.remembered.remember(token, request.user);
    return isAllowed;
  }

  override handleRequest<TUser>(error: unknown, user: TUser | false, info: unknown): TUser {
    if (error instanceof Failure) throw error;
    if (user !== false && error === null) return user;
    const isMissing = info instanceof Error && info.message === NO_TOKEN;
    throw isMissing || info instanceof TokenExpiredError
      ? failures.missingAccessToken()
      : failures.malformedAccessToken();
  }
}

/** What passport-jwt 4 says when its extractor found nothing. */
const NO_TOKEN = 'No auth token';
