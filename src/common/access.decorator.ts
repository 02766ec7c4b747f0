import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

/**
 * Access that a route declares.
 * - `public`: anyone
 * - `refresh cookie`: anyone; the route verifies the refresh cookie
 * - `user`: a valid access cookie
 * - `admin`: a valid access cookie of an administrator
 * - `catalog`: a valid access cookie; anyone if CATALOG_ACCESS is `public`
 */
export type AccessLevel = 'public' | 'refresh cookie' | 'user' | 'admin' | 'catalog';

/** Declares who may call a route or the routes of a controller. `@ApiEndpoint` includes this declaration. */
export const Access = Reflector.createDecorator<AccessLevel>();

/** Reads the declaration of a route. @throws Error if the route has none, so that every request is rejected */
export function readAccess(reflector: Reflector, context: ExecutionContext): AccessLevel {
  const [handler, controller] = [context.getHandler(), context.getClass()];
  const access = reflector.getAllAndOverride<AccessLevel | undefined>(Access.KEY, [handler, controller]);
  if (access === undefined) throw new Error(`${controller.name}.${handler.name} declares no access`);
  return access;
}
