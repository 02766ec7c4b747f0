import { Reflector } from '@nestjs/core';

/** Opens a route or a controller to callers without an access cookie; every other route is closed. */
export const Public = Reflector.createDecorator<boolean>();
