import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Response } from 'express';
import {
  Access,
  type AccessLevel,
  type AuthUser,
  CatalogRoute,
  type GuardedRequest,
} from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { isSafeMethod } from '../common/http/request-info.js';
import { Env } from '../config/env.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { SessionsService } from './sessions.service.js';

/** Enforces the access that a route declares. Global. */
@Injectable()
export class AccessGuard extends AuthGuard('jwt') {
  constructor(
    private readonly reflector: Reflector,
    private readonly env: Env,
    private readonly sessions: SessionsService,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.getAllAndOverride(Access, [context.getHandler(), context.getClass()]);
    if (access === 'public') return true;
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    response.setHeader('Cache-Control', 'private, no-cache');
    await super.canActivate(context); // sets `request.user` to the result of `handleRequest`
    const { user, method } = http.getRequest<GuardedRequest>();
    if (user === undefined) response.setHeader('Cache-Control', 'no-cache');
    else await this.#checkDatabase(access, user, !isSafeMethod(method));
    return true;
  }

  /** Returns the user of a valid access cookie, or undefined for a visitor of the public catalog. */
  override handleRequest<U>(error: unknown, user: U | false, info: unknown, context: ExecutionContext): U {
    if (error instanceof Error) throw error;
    if (user !== false) return user;
    const isOpenCatalog =
      this.env.catalogAccess === 'public' && this.reflector.get(CatalogRoute, context.getHandler());
    if (isOpenCatalog) return undefined as U;
    const isMissing = readCookie(context.switchToHttp().getRequest(), ACCESS_COOKIE) === '';
    const isExpired = info instanceof Error && info.name === 'TokenExpiredError';
    throw isMissing || isExpired ? failures.missingAccessToken() : failures.malformedAccessToken();
  }

  /** Checks what an access token cannot contain: a later change of the role, and the end of the session. */
  async #checkDatabase(access: AccessLevel, user: AuthUser, isChange: boolean): Promise<void> {
    if (access === 'user' && !isChange) return;
    const { role, isLive } = await this.sessions.readRoleAndLiveness(user);
    // Check the role first: a revocation also ends the sessions, but a former administrator gets 403, not 401.
    const isAdmin = user.role === 'ADMIN' && role === 'ADMIN';
    // Not `=== 'admin'`: an operation that declares no access must stay closed.
    if (access !== 'user' && !isAdmin) throw failures.adminOnly();
    if (isChange && !isLive) throw failures.missingAccessToken();
  }
}
