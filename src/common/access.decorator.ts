import { Reflector } from '@nestjs/core';

/** Which cookie a route needs (contract 4). */
export type AccessLevel = 'none' | 'user' | 'admin' | 'refresh cookie';

/** Who may call a route or a controller. `JwtGuard` enforces it; without it a route is for signed-in users. */
export const Access = Reflector.createDecorator<AccessLevel>();
