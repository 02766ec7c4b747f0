import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { TokenExpiredError } from '@nestjs/jwt';
import { AuthGuard } from '@nestjs/passport';
import type { Request, Response } from 'express';
import { Access, type AccessLevel, CatalogRoute } from '../common/access/access.decorator.js';
import type { AuthenticatedRequest } from '../common/access/auth-user.js';
import { Failure, failures } from '../common/errors/failures.js';
import { isSafeMethod } from '../common/http/safe-methods.js';
import { Env } from '../config/env.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { SessionsService } from './sessions.service.js';

/** Enforces the access that a route declares. Global. `RouteAccessCheck` makes sure that every route declares its access. */
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
    const targets = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride(Access, targets);
    if (access === 'public') return true;

    const failure = await this.#verifyToken(context);
    const isOpenCatalog =
      this.env.catalogAccess === 'public' && this.reflector.getAllAndOverride(CatalogRoute, targets);
    const isAnonymous = failure !== null && isOpenCatalog;
    const response = context.switchToHttp().getResponse<Response>();
    response.setHeader('Cache-Control', isAnonymous ? 'no-cache' : 'private, no-cache');
    if (isAnonymous) return true;
    if (failure !== null) throw failure;

    await this.#checkDatabase(access, context.switchToHttp().getRequest<AuthenticatedRequest>());
    return true;
  }

  /** Sets `request.user` if the access cookie is valid. Returns the failure if the cookie is missing, expired or invalid. */
  async #verifyToken(context: ExecutionContext): Promise<Failure | null> {
    try {
      await super.canActivate(context);
      return null;
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  }

  /** Chooses the failure for a token that passport-jwt rejected. */
  override handleRequest<U>(error: unknown, user: U | false, info: unknown, context: ExecutionContext): U {
    if (user !== false && error === null) return user;
    const isMissing = readCookie(context.switchToHttp().getRequest<Request>(), ACCESS_COOKIE) === null;
    throw isMissing || info instanceof TokenExpiredError
      ? failures.missingAccessToken()
      : failures.malformedAccessToken();
  }

  /** Checks what an access token cannot contain: a later change of the role, and the end of the session. */
  async #checkDatabase(access: AccessLevel, { user, method }: AuthenticatedRequest): Promise<void> {
    const isChange = !isSafeMethod(method);
    if (access === 'user' && !isChange) return;
    const { role, isLive } = await this.sessions.readState(user);
    // Check the role first: a revocation also ends the sessions, but a former administrator gets 403, not 401.
    if (access === 'admin' && !(user.role === 'ADMIN' && role === 'ADMIN')) throw failures.adminOnly();
    if (isChange && !isLive) throw failures.missingAccessToken();
  }
}
