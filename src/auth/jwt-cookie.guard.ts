import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { Access } from '../common/access.decorator.js';
import type { AuthenticatedRequest } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';
import { TokensService } from './tokens.service.js';

/**
 * Closes every route without `@Access` to callers without a valid access cookie: 401 when the cookie is missing or
 * expired, 400 when it is malformed (contract 4.4). Routes for administrators answer 403 to others.
 */
@Injectable()
export class JwtCookieGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: TokensService,
  ) {}

  canActivate(context: ExecutionContext): true {
    const access = this.reflector.getAllAndOverride(Access, [context.getHandler(), context.getClass()]);
    if (access === 'none' || access === 'refresh cookie') return true;
    const http = context.switchToHttp();
    http.getResponse<Response>().setHeader('Cache-Control', 'private, no-cache');
    const request = http.getRequest<AuthenticatedRequest>();
    const token = readCookie(request, ACCESS_COOKIE);
    if (token === null) throw failures.missingAccessToken();
    request.user = this.tokens.verifyAccess(token);
    if (access === 'admin' && request.user.role !== 'ADMIN') throw failures.adminOnly();
    return true;
  }
}
