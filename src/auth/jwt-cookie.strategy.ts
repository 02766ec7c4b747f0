import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import { createSecretKey } from 'node:crypto';
import type { Caller } from '../common/current-user.decorator.js';
import { Env } from '../config/env.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { callerOf, type Claims, JWT_ALGORITHM } from './tokens.service.js';

export const JWT_COOKIE = 'jwt-cookie';

/** Reads the caller from the access cookie. */
@Injectable()
export class JwtCookieStrategy extends PassportStrategy(Strategy, JWT_COOKIE) {
  constructor({ jwtAccessSecret }: Env) {
    super({
      jwtFromRequest: (request: Request) => readCookie(request, ACCESS_COOKIE),
      // jsonwebtoken takes a key object, which the types of passport-jwt do not say.
      secretOrKey: createSecretKey(jwtAccessSecret, 'utf8') as unknown as Buffer,
      algorithms: [JWT_ALGORITHM],
    });
  }

  validate(claims: Claims): Caller | null {
    return callerOf(claims);
  }
}
