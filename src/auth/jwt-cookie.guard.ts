import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { TokenExpiredError } from '@nestjs/jwt';
import { AuthGuard } from '@nestjs/passport';
import type { Response } from 'express';
import { readAccess } from '../common/access.decorator.js';
import type { AuthenticatedRequest } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { isSafeMethod } from '../common/safe-methods.js';
import { AdmissionService } from './admission.service.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { SessionsService } from './sessions.service.js';

/**
 * Rejects requests without a valid access cookie, unless the route needs none. On routes of access `user`, a request that
 * changes something also needs a live session. `AdminGuard` checks the session on routes of access `admin`. Global.
 */
@Injectable()
export class JwtCookieGuard extends AuthGuard('jwt') {
  constructor(
    private readonly reflector: Reflector,
    private readonly admission: AdmissionService,
    private readonly sessions: SessionsService,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = readAccess(this.reflector, context);
    if (access === 'public' || access === 'refresh cookie') return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    // `admit` accepts tokens that were verified before, and requests without a cookie if the cookie is optional.
    if (!this.admission.admit(access, request, response)) {
      if (readCookie(request, ACCESS_COOKIE) === null) throw failures.missingAccessToken();
      try {
        await super.canActivate(context);
      } catch (failure) {
        if (!this.admission.isCookieOptional(access)) throw failure;
        // Ignore the cookie: the request counts as anonymous. Undo the private Cache-Control that `admit` has set.
        response.setHeader('Cache-Control', 'no-cache');
      }
    }
    if (access === 'user' && !isSafeMethod(request.method)) {
      const { isLive } = await this.sessions.readState(request.user);
      if (!isLive) throw failures.missingAccessToken();
    }
    return true;
  }

  /** Returns the caller that passport-jwt verified. @throws Failure 401 for an expired cookie, 400 for an invalid one */
  override handleRequest<U>(error: unknown, user: U | false, info: unknown): U {
    if (user !== false && error === null) return user;
    throw info instanceof TokenExpiredError ? failures.missingAccessToken() : failures.malformedAccessToken();
  }
}
