import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

export const ROLES = ['USER', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

/** Who is calling, and in which session, as the access token says; nothing of it was read from the database. */
export interface Caller {
  readonly id: number;
  readonly fullname: string;
  readonly email: string;
  readonly role: Role;
  /** UUID; the token's `jti`. */
  readonly sessionId: string;
}

/** Who is calling, in whichever session. */
export type Principal = Omit<Caller, 'sessionId'>;

/** A request that passed `JwtCookieGuard`. */
export interface AuthenticatedRequest extends Request {
  user: Caller;
}

/** Injects the caller of a protected route. */
export const CurrentUser = createParamDecorator(
  (_: undefined, context: ExecutionContext): Caller =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().user,
);
