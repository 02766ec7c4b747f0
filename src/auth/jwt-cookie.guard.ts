import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { TokenExpiredError } from '@nestjs/jwt';
import { AuthGuard } from '@nestjs/passport';
import type { Response } from 'express';
import { failures } from '../common/errors.js';
import { Public } from '../common/public.decorator.js';
import { JWT_COOKIE } from './jwt-cookie.strategy.js';

/** What passport-jwt 4 says when its extractor found nothing. */
const NO_TOKEN = 'No auth token';

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
    context.switchToHttp().getResponse<Response>().setHeader('Cache-Control', 'private, no-cache');
    return (await super.canActivate(context)) as boolean;
  }

  override handleRequest<TUser>(error: unknown, user: TUser | false, info: unknown): TUser {
    if (user !== false && error === null) return user;
    const isMissing = info instanceof Error && info.message === NO_TOKEN;
    throw isMissing || info instanceof TokenExpiredError
      ? failures.missingAccessToken()
      : failures.malformedAccessToken();
  }
}
