import { createSecretKey } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import type { AuthUser } from '../common/access.js';
import { Env } from '../config/env.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { type Claims, JWT_ALGORITHM, toAuthUser } from './tokens.service.js';

@Injectable()
export class JwtCookieStrategy extends PassportStrategy(Strategy) {
  constructor({ jwtAccessSecret }: Env) {
    super({
      jwtFromRequest: (request: Request) => readCookie(request, ACCESS_COOKIE),
      // A key object saves 0.4 ms per request, because jsonwebtoken converts a string for each call. passport-jwt accepts key
      // objects, but its types do not.
      secretOrKey: createSecretKey(jwtAccessSecret, 'utf8') as unknown as Buffer,
      algorithms: [JWT_ALGORITHM],
    });
  }

  validate(claims: Claims): AuthUser | null {
    return toAuthUser(claims);
  }
}
