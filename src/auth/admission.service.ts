import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import type { AccessLevel } from '../common/access.decorator.js';
import type { Caller } from '../common/current-user.decorator.js';
import { Env } from '../config/env.js';
import { ACCESS_COOKIE, readCookie } from './cookies.js';

/** More than the customers who use the shop within ten minutes, the lifetime of an access token. */
const MAX_VERIFIED_TOKENS = 10_000;

/**
 * Admits requests whose token has been verified before, and anonymous requests for a public catalog. `JwtCookieGuard` and
 * `ProductListMiddleware` call `admit` first: verifying a token would take a tenth of the time of a whole list request.
 */
@Injectable()
export class AdmissionService {
  /** Callers by verified access token. */
  readonly #verified = new LRUCache<string, Caller>({ max: MAX_VERIFIED_TOKENS });

  constructor(private readonly env: Env) {}

  /** @param expiresAt `exp` of the token: Unix time in seconds */
  rememberVerified(token: string, caller: Caller, expiresAt: number): void {
    // At least 1, because lru-cache keeps an entry with a lifetime of 0 forever.
    const ttl = Math.max(1, expiresAt * 1000 - Date.now());
    // Copy the token: it is a slice of the Cookie header, and V8 keeps the whole header in memory for a slice.
    this.#verified.set(Buffer.from(token).toString(), caller, { ttl });
  }

  isCookieOptional(access: AccessLevel): boolean {
    return access === 'catalog' && this.env.catalogAccess === 'public';
  }

  /** Sets Cache-Control, and `request.user` for a verified token. @returns true if the request is admitted */
  admit(access: AccessLevel, request: Request, response: Response): boolean {
    const token = readCookie(request, ACCESS_COOKIE);
    const caller = token === null ? undefined : this.#verified.get(token);
    const isAnonymous = token === null && this.isCookieOptional(access);
    response.setHeader('Cache-Control', isAnonymous ? 'no-cache' : 'private, no-cache');
    if (caller !== undefined) request.user = caller;
    return caller !== undefined || isAnonymous;
  }
}
