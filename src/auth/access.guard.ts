import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request, Response } from 'express';
import { Access, type AccessLevel, CatalogRoute } from '../common/access/access.decorator.js';
import type { AuthUser, GuardedRequest } from '../common/access/auth-user.js';
import { type Failure, failures } from '../common/errors/failures.js';
import { isSafeMethod } from '../common/http/origin-check.js';
import { Env } from '../config/env.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { SessionsService } from './sessions.service.js';
import { TokensService } from './tokens.service.js';

/** Enforces the access that a route declares. Global. `RouteAccessCheck` makes sure that every route declares its access. */
@Injectable()
export class AccessGuard extends AuthGuard('jwt') {
  constructor(
    private readonly reflector: Reflector,
    private readonly env: Env,
    private readonly sessions: SessionsService,
    private readonly tokens: TokensService,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride(Access, targets);
    if (access === 'public') return true;

    await super.canActivate(context); // sets `request.user` if the access cookie is valid
    const http = context.switchToHttp();
    const request = http.getRequest<GuardedRequest>();
    const isOpenCatalog =
      this.env.catalogAccess === 'public' && this.reflector.getAllAndOverride(CatalogRoute, targets);
    const isAnonymous = request.user === undefined && isOpenCatalog;
    http.getResponse<Response>().setHeader('Cache-Control', isAnonymous ? 'no-cache' : 'private, no-cache');
    if (isAnonymous) return true;
    if (request.user === undefined) throw this.#explainInvalidCookie(request);

    await this.#checkDatabase(access, request.user, !isSafeMethod(request.method));
    return true;
  }

  /** Called by `super.canActivate` with the result of `JwtCookieStrategy`. Returns the value for `request.user`, undefined without a user. */
  override handleRequest<U>(error: unknown, user: U | false): U {
    if (error instanceof Error) throw error;
    return (user === false ? undefined : user) as U;
  }

  #explainInvalidCookie(request: Request): Failure {
    const token = readCookie(request, ACCESS_COOKIE);
    const isExpired = token !== null && this.tokens.verifyAccessIgnoringExpiry(token) !== null;
    return token === null || isExpired ? failures.missingAccessToken() : failures.malformedAccessToken();
  }

  /** Checks what an access token cannot contain: a later change of the role, and the end of the session. */
  async #checkDatabase(access: AccessLevel, user: AuthUser, isChange: boolean): Promise<void> {
    if (access === 'user' && !isChange) return;
    const { role, isLive } = await this.sessions.readRoleAndLiveness(user);
    // Check the role first: a revocation also ends the sessions, but a former administrator gets 403, not 401.
    if (access === 'admin' && !(user.role === 'ADMIN' && role === 'ADMIN')) throw failures.adminOnly();
    if (isChange && !isLive) throw failures.missingAccessToken();
  }
}
