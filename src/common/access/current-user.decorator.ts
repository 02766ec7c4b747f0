import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AuthenticatedRequest, AuthUser } from './auth-user.js';

/** Injects the user who makes the request; undefined for an anonymous request of the public catalog. */
export const CurrentUser = createParamDecorator(
  (_: undefined, context: ExecutionContext): AuthUser | undefined =>
    context.switchToHttp().getRequest<Partial<AuthenticatedRequest>>().user,
);
