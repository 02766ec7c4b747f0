import { Reflector } from '@nestjs/core';

export type AccessLevel = 'public' | 'user' | 'admin';

/** Declares who may call a route or the routes of a controller. `@ApiEndpoint` includes this declaration. */
export const Access = Reflector.createDecorator<AccessLevel>();

/** Marks a route with the access `user` that visitors may call too if CATALOG_ACCESS is `public`. */
export const CatalogRoute = Reflector.createDecorator<true>();
