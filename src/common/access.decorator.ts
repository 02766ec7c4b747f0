import { Reflector } from '@nestjs/core';

/**
 * Access that a route declares.
 * - `none`: anyone
 * - `refresh cookie`: anyone; the route verifies the refresh cookie
 * - `user`: a valid access cookie
 * - `admin`: a valid access cookie of an administrator
 * - `catalog`: `user`, or anyone with CATALOG_ACCESS=public
 */
export type AccessLevel = 'none' | 'refresh cookie' | 'user' | 'admin' | 'catalog';

/**
 * Declares who may call a route or the routes of a controller. `@ApiEndpoint` includes this declaration. The global
 * guard enforces it, and the service does not start with a route that has none.
 */
export const Access = Reflector.createDecorator<AccessLevel>();
