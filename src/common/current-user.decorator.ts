import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

export const ROLES = ['USER', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

/** Caller and session as in the access token. */
export interface Caller {
  readonly id: number;
  readonly fullname: string;
  readonly email: string;
  readonly role: Role;
  /** The claim `jti`, a UUID. */
  readonly sessionId: string;
}

export type Principal = Omit<Caller, 'sessionId'>; // For code that does not depend on the session.

export interface AuthenticatedRequest extends Request {
  user: Caller;
}

/** Injects the caller; undefined for an anonymous request of a route with access `catalog`. */
export const CurrentUser = createParamDecorator(
  (_: undefined, context: ExecutionContext): Caller | undefined =>
    context.switchToHttp().getRequest<Partial<AuthenticatedRequest>>().user,
);
