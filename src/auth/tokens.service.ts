import { Injectable } from '@nestjs/common';
import { JwtService, type JwtVerifyOptions } from '@nestjs/jwt';
import { isUUID } from 'class-validator';
import { LRUCache } from 'lru-cache';
import { createHash, createSecretKey } from 'node:crypto';
import { type Caller, ROLES } from '../common/current-user.decorator.js';
import { isId } from '../common/ids.js';
import { Env } from '../config/env.js';

/** The only algorithm that is signed with or accepted. */
export const JWT_ALGORITHM = 'HS256';
const ACCESS_LIFETIME_S = 600;
const REFRESH_LIFETIME_S = 864_000;
/** By how much the clocks of two processes may differ, in seconds. */
const CLOCK_SKEW_S = 60;
/** Tokens that are remembered as verified: enough for all customers of ten minutes. */
const REMEMBERED_TOKENS = 10_000;

/** What a token says; anyone may have written it until it is verified. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Signs the two tokens of a session and verifies refresh tokens; `JwtCookieStrategy` verifies access tokens. The database
 * is not asked.
 */
@Injectable()
export class TokensService {
  readonly #access: JwtService;
  readonly #refresh: JwtService;
  /** Callers by verified access token, until it expires: verifying one anew is a tenth of the work for a page of products. */
  readonly #verified = new LRUCache<string, Caller>({ max: REMEMBERED_TOKENS });

  constructor(env: Env) {
    this.#access = serviceOf(env.jwtAccessSecret, ACCESS_LIFETIME_S);
    this.#refresh = serviceOf(env.jwtRefreshSecret, REFRESH_LIFETIME_S);
  }

  signAccess(caller: Caller): string {
    return this.#access.sign(claimsOf(caller));
  }

  signRefresh(caller: Caller): string {
    return this.#refresh.sign(claimsOf(caller));
  }

  /** Remembers the caller of an access token that was just verified, until it expires. */
  rememberVerified(token: string, caller: Caller): void {
    const { exp } = this.#access.decode<{ readonly exp: number }>(token);
    // At least 1: to the cache, 0 means without end.
    this.#verified.set(token, caller, { ttl: Math.max(1, exp * 1000 - Date.now()) });
  }

  /** The caller of an access token that was verified before and has not expired since; undefined for any other text. */
  verifiedCaller(token: string): Caller | undefined {
    return this.#verified.get(token);
  }

  /** The caller of a well-signed access token, expired or not; null for any other text. */
  verifyExpiredAccess(token: string): Caller | null {
    return callerOf(claimsIn(this.#access, token, { ignoreExpiration: true }));
  }

  /** The caller of a refresh token; null unless the token is well signed and not expired. */
  verifyRefresh(token: string): Caller | null {
    return callerOf(claimsIn(this.#refresh, token));
  }
}

/** What is stored of a refresh token: SHA-256, 32 bytes. A token is random enough to need no salt. */
export function refreshTokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function serviceOf(secret: string, expiresIn: number): JwtService {
  return new JwtService({
    // A key object: jsonwebtoken parses a key that is text at each call, which takes 0.4 ms.
    secret: createSecretKey(secret, 'utf8'),
    signOptions: { algorithm: JWT_ALGORITHM, expiresIn },
    verifyOptions: { algorithms: [JWT_ALGORITHM] },
  });
}

/** The claims of both tokens (contract 5), besides `iat` and `exp`, which are seconds since the epoch. */
function claimsOf({ id, fullname, email, role, sessionId }: Caller): Claims {
  return { tokenId: id, fullname, email, role, jti: sessionId };
}

/** The claims of a token; none when it is not valid. */
function claimsIn(service: JwtService, token: string, options?: JwtVerifyOptions): Claims {
  try {
    return service.verify<Record<string, unknown>>(token, options);
  } catch {
    return {};
  }
}

/** The caller that verified claims name; null when they are not claims of this service. */
export function callerOf({ tokenId, fullname, email, role, jti, iat, exp }: Claims): Caller | null {
  const knownRole = ROLES.find((candidate) => candidate === role);
  // The verification itself accepts a token without `exp` for ever, and does not look at `iat`.
  const hasTimes =
    typeof exp === 'number' && typeof iat === 'number' && iat <= Date.now() / 1000 + CLOCK_SKEW_S;
  const isOurs =
    isId(tokenId) && typeof fullname === 'string' && typeof email === 'string' && isUUID(jti) && hasTimes;
  if (!isOurs || knownRole === undefined) return null;
  return { id: tokenId, fullname, email, role: knownRole, sessionId: jti as string };
}
