import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { CookieOptions, Request, Response } from 'express';
import { createHash, createSecretKey, randomUUID, timingSafeEqual } from 'node:crypto';
import { type Principal, ROLES, type Role } from '../common/current-user.decorator.js';
import { isId } from '../common/ids.js';
import { Env } from '../config/env.js';

/** Claims of both tokens (interface.md section 5; `jti` from decisions.md, Accounts). */
export interface TokenClaims {
  readonly tokenId: number;
  readonly fullname: string;
  readonly email: string;
  readonly role: Role;
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly exp: number;
}

export const ACCESS_COOKIE = 'accessToken';
export const REFRESH_COOKIE = 'refreshToken';
const REFRESH_PATH = '/api/refresh';
/** The only algorithm that is signed with or accepted. */
export const JWT_ALGORITHM = 'HS256';

const SECOND = 1000;
const ACCESS_LIFETIME_S = 600;
const REFRESH_LIFETIME_S = 864_000;
/** By how much the clocks of two processes may differ. */
const CLOCK_SKEW_S = 60;
/** The documented Max-Age values, in seconds; far longer than the tokens, whose own `exp` ends them. */
const ACCESS_MAX_AGE_S = 600_000;
const REFRESH_MAX_AGE_S = 864_000_000;

const COOKIE: CookieOptions = { httpOnly: true, secure: true, sameSite: 'none' };

/** Signs and verifies the two tokens and carries them in their cookies. */
@Injectable()
export class TokensService {
  readonly #access: JwtService;
  readonly #refresh: JwtService;

  constructor(env: Env) {
    this.#access = serviceOf(env.jwtAccessSecret, ACCESS_LIFETIME_S);
    this.#refresh = serviceOf(env.jwtRefreshSecret, REFRESH_LIFETIME_S);
  }

  signAccess(principal: Principal): string {
    return sign(this.#access, principal);
  }

  signRefresh(principal: Principal): string {
    return sign(this.#refresh, principal);
  }

  /** Whose refresh token it is; null unless it is well signed and not expired. */
  verifyRefresh(token: string): Promise<Principal | null> {
    return principalOfToken(this.#refresh, token, {});
  }

  /** Whose access token it is, expired or not; null unless it is well signed. For logging out. */
  verifyAccessSignature(token: string): Promise<Principal | null> {
    return principalOfToken(this.#access, token, { ignoreExpiration: true });
  }

  setAccessCookie(response: Response, token: string): void {
    forbidCopies(response);
    response.cookie(ACCESS_COOKIE, token, { ...COOKIE, path: '/', maxAge: ACCESS_MAX_AGE_S * SECOND });
  }

  setRefreshCookie(response: Response, token: string): void {
    forbidCopies(response);
    response.cookie(REFRESH_COOKIE, token, {
      ...COOKIE,
      path: REFRESH_PATH,
      maxAge: REFRESH_MAX_AGE_S * SECOND,
    });
  }

  clearCookies(response: Response): void {
    forbidCopies(response);
    response.clearCookie(ACCESS_COOKIE, { ...COOKIE, path: '/' });
    response.clearCookie(REFRESH_COOKIE, { ...COOKIE, path: REFRESH_PATH });
  }
}

/** The secret becomes a key once: jsonwebtoken tries a text as a private key first, which costs more than signing. */
function serviceOf(secret: string, lifetimeSeconds: number): JwtService {
  return new JwtService({
    secret: createSecretKey(secret, 'utf8'),
    signOptions: { algorithm: JWT_ALGORITHM, expiresIn: lifetimeSeconds },
    verifyOptions: { algorithms: [JWT_ALGORITHM] },
  });
}

function sign(jwt: JwtService, { id, fullname, email, role }: Principal): string {
  return jwt.sign({ tokenId: id, fullname, email, role, jti: randomUUID() });
}

async function principalOfToken(
  jwt: JwtService,
  token: string,
  options: { ignoreExpiration?: boolean },
): Promise<Principal | null> {
  try {
    return principalOf(await jwt.verifyAsync<object>(token, options));
  } catch {
    // Whatever is wrong with a token, its bearer is told the same.
    return null;
  }
}

/** An answer with cookies is kept by nobody, so that it is never a 304 either, whatever a caller claims to have. */
function forbidCopies(response: Response): void {
  response.setHeader('Cache-Control', 'no-store');
  delete response.req.headers['if-none-match'];
  delete response.req.headers['if-modified-since'];
}

/**
 * A cookie's text; null when it is absent or empty. What `cookie-parser` made an object of (`j:{}`) is somebody's
 * malformed token, not a missing one.
 */
export function readCookie(request: Request, name: string): string | null {
  const cookie = (request.cookies as Readonly<Record<string, unknown>>)[name];
  if (cookie === undefined || cookie === '') return null;
  return typeof cookie === 'string' ? cookie : JSON.stringify(cookie);
}

/** The caller that verified claims name; null when they are not claims of ours. */
export function principalOf(claims: Partial<Record<keyof TokenClaims, unknown>>): Principal | null {
  const { tokenId, fullname, email, role, iat, exp } = claims;
  if (!isId(tokenId) || typeof fullname !== 'string' || typeof email !== 'string') return null;
  // The verification leaves a token without `exp` valid for ever, and looks at no `iat`, by which a token is known to
  // belong to a session that has ended.
  if (typeof exp !== 'number' || typeof iat !== 'number' || iat > Date.now() / 1000 + CLOCK_SKEW_S)
    return null;
  const known = ROLES.find((candidate) => candidate === role);
  return known === undefined ? null : { id: tokenId, fullname, email, role: known };
}

/** What is stored of a refresh token: SHA-256, 32 bytes. A token is random enough to need no salt. */
export function refreshTokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Whether a presented refresh token is the stored one, in constant time. */
export function isStoredRefreshToken(stored: Buffer | null, token: string): boolean {
  return stored !== null && timingSafeEqual(stored, refreshTokenDigest(token));
}
