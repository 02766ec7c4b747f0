import type { Request } from 'express';

export const ROLES = ['USER', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

/** User who makes a request, with the session, as in the access token. */
export interface AuthUser {
  readonly id: number;
  readonly fullname: string;
  readonly email: string;
  readonly role: Role;
  /** The claim `jti`, a UUID. */
  readonly sessionId: string;
}

/** Request that `AccessGuard` has checked. */
export interface GuardedRequest extends Request {
  /** Absent for an anonymous request. */
  user?: AuthUser;
}
