import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import type { Caller } from '../common/current-user.decorator.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { JWT_ALGORITHM, type TokenClaims, TokensService } from './tokens.service.js';

export const JWT_COOKIE = 'jwt-cookie';

/** Reads the caller from the access cookie, by the same rules as `TokensService.verifyAccess`. */
@Injectable()
export class JwtCookieStrategy extends PassportStrategy(Strategy, JWT_COOKIE) {
  constructor(private readonly tokens: TokensService) {
    super({
      jwtFromRequest: (request: Request) => readCookie(request, ACCESS_COOKIE),
      // jsonwebtoken takes a key object, which the types of passport-jwt do not say.
      secretOrKey: tokens.accessKey as unknown as Buffer,
      algorithms: [JWT_ALGORITHM],
    });
  }

  validate(claims: TokenClaims): Caller {
    return this.tokens.callerOf(claims);
  }
}
