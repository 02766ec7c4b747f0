import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { AuthenticatedRequest } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';

/** Lets administrators through; runs after `JwtCookieGuard`, which is global. */
@Injectable()
export class AdminGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    if (context.switchToHttp().getRequest<AuthenticatedRequest>().user.role !== 'ADMIN')
      throw failures.adminOnly();
    return true;
  }
}
