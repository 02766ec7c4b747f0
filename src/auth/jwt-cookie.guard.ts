import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { TokenExpiredError } from '@nestjs/jwt';
import { AuthGuard } from '@nestjs/passport';
import type { Response } from 'express';
import { failures } from '../common/errors.js';
import { Public } from '../common/public.decorator.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { JWT_COOKIE } from './jwt-cookie.strategy.js';

/**
 * Closes every route that is not `@Public()` to callers without a valid access cookie: 401 when the cookie is missing
 * or expired, 400 when it is malformed (contract 4.4).
 */
@Injectable()
export class JwtCookieGuard extends AuthGuard(JWT_COOKIE) {
  constructor(private readonly reflector: Reflector) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride(Public, [context.getHandler(), context.getClass()])) return true;
    const http = context.switchToHttp();
    http.getResponse<Response>().setHeader('Cache-Control', 'private, no-cache');
    if (readCookie(http.getRequest(), ACCESS_COOKIE) === null) throw failures.missingAccessToken();
    return (await super.canActivate(context)) as boolean;
  }

  override handleRequest<TUser>(error: unknown, user: TUser | false, info: unknown): TUser {
    if (user !== false && error === null) return user;
    throw info instanceof TokenExpiredError ? failures.missingAccessToken() : failures.malformedAccessToken();
  }
}
