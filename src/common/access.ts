import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';

export type AccessLevel = 'public' | 'user' | 'admin';

/** Declares who may call a route or the routes of a controller. `@ApiEndpoint` includes this declaration. */
export const Access = Reflector.createDecorator<AccessLevel>();

/** Marks a route with the access `user` that visitors may call too if CATALOG_ACCESS is `public`. */
export const CatalogRoute = Reflector.createDecorator<true>();

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

/** Fields of the user who places an order. An administrator can order too. */
export type Customer = Pick<AuthUser, 'id' | 'fullname' | 'email'>;

/** Request that `AccessGuard` has checked. */
export interface GuardedRequest extends Request {
  /** Absent on a public route, and for a visitor of the public catalog. */
  user?: AuthUser;
}

/** Injects the user who makes the request. Undefined on a public route, and for a visitor of the public catalog. */
export const CurrentUser = createParamDecorator(
  (_: undefined, context: ExecutionContext): AuthUser | undefined =>
    context.switchToHttp().getRequest<GuardedRequest>().user,
);
