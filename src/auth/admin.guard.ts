import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { readAccess } from '../common/access.decorator.js';
import type { AuthenticatedRequest } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { isSafeMethod } from '../common/safe-methods.js';
import { SessionsService } from './sessions.service.js';

/**
 * Admits only administrators to routes that declare the access `admin`. Global; runs after `JwtCookieGuard`. Reads the role
 * from the database, because the access token of a revoked administrator still contains the former role.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: SessionsService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (readAccess(this.reflector, context) !== 'admin') return true;
    const { user, method } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (user.role !== 'ADMIN') throw failures.adminOnly();
    const { role, isLive } = await this.sessions.readState(user);
    // Check the role first: a revocation also ends the sessions, but a former administrator gets 403, not 401.
    if (role !== 'ADMIN') throw failures.adminOnly();
    if (!isLive && !isSafeMethod(method)) throw failures.missingAccessToken();
    return true;
  }
}
