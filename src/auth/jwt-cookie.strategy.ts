import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import { createSecretKey } from 'node:crypto';
import type { Caller } from '../common/current-user.decorator.js';
import { Env } from '../config/env.js';
import { AdmissionService } from './admission.service.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { toCaller, type Claims, JWT_ALGORITHM } from './tokens.service.js';

@Injectable()
export class JwtCookieStrategy extends PassportStrategy(Strategy) {
  constructor(
    { jwtAccessSecret }: Env,
    private readonly admission: AdmissionService,
  ) {
    super({
      jwtFromRequest: (request: Request) => readCookie(request, ACCESS_COOKIE),
      // jsonwebtoken accepts a key object, although the types of passport-jwt do not allow it.
      secretOrKey: createSecretKey(jwtAccessSecret, 'utf8') as unknown as Buffer,
      algorithms: [JWT_ALGORITHM],
      passReqToCallback: true,
    });
  }

  validate(request: Request, claims: Claims): Caller | null {
    const caller = toCaller(claims);
    const token = readCookie(request, ACCESS_COOKIE);
    if (caller !== null && token !== null) this.admission.rememberVerified(token, caller, Number(claims.exp));
    return caller;
  }
}
