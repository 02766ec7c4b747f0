import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AuthUser, GuardedRequest } from './auth-user.js';

/** Injects the user who makes the request; undefined for an anonymous request of the public catalog. */
export const CurrentUser = createParamDecorator(
  (_: undefined, context: ExecutionContext): AuthUser | undefined =>
    context.switchToHttp().getRequest<GuardedRequest>().user,
);
