import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import type { Caller } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { Env } from '../config/env.js';
import { ACCESS_COOKIE, JWT_ALGORITHM, principalOf, readCookie, type TokenClaims } from './tokens.service.js';

export const JWT_COOKIE = 'jwt-cookie';

/** Reads the caller from the access cookie; the database is not asked. */
@Injectable()
export class JwtCookieStrategy extends PassportStrategy(Strategy, JWT_COOKIE) {
  constructor(env: Env) {
    super({
      jwtFromRequest: (request: Request) => readCookie(request, ACCESS_COOKIE),
      secretOrKey: env.jwtAccessSecret,
      algorithms: [JWT_ALGORITHM],
    });
  }

  validate(claims: TokenClaims): Caller {
    const principal = principalOf(claims);
    if (principal === null) throw failures.malformedAccessToken();
    return { ...principal, issuedAt: claims.iat, expiresAt: claims.exp };
  }
}
