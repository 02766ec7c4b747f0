import { createSecretKey } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService, type JwtVerifyOptions } from '@nestjs/jwt';
import { isUUID } from 'class-validator';
import { type AuthUser, ROLES } from '../common/access.js';
import { isId } from '../common/validation/ids.js';
import { Env } from '../config/env.js';

export const JWT_ALGORITHM = 'HS256';
export const ACCESS_LIFETIME_S = 600;
export const REFRESH_LIFETIME_S = 864_000;
/** Largest expected difference between the clocks of two machines, in seconds. */
export const CLOCK_SKEW_S = 60;

/** Tokens of a session, and their user. Without a new refresh token, the earlier one stays valid. */
export interface IssuedTokens {
  readonly user: AuthUser;
  readonly accessToken: string;
  readonly refreshToken?: string;
}

export type Claims = Readonly<Record<string, unknown>>;

/** Signs and verifies the tokens of a session. `JwtCookieStrategy` verifies the access tokens that authorize requests. */
@Injectable()
export class TokensService {
  readonly #access: JwtService;
  readonly #refresh: JwtService;

  constructor(env: Env) {
    this.#access = createJwtService(env.jwtAccessSecret, ACCESS_LIFETIME_S);
    this.#refresh = createJwtService(env.jwtRefreshSecret, REFRESH_LIFETIME_S);
  }

  signAccess(authUser: AuthUser): string {
    return this.#access.sign(toClaims(authUser));
  }

  signRefresh(authUser: AuthUser): string {
    return this.#refresh.sign(toClaims(authUser));
  }

  /** Returns the user of a well-signed access token, expired or not; null for any other text. */
  verifyAccessIgnoringExpiry(token: string): AuthUser | null {
    return verify(this.#access, token, { ignoreExpiration: true });
  }

  /** Returns the user of a refresh token; null unless the token is well signed and not expired. */
  verifyRefresh(token: string): AuthUser | null {
    return verify(this.#refresh, token);
  }
}

function createJwtService(secret: string, expiresIn: number): JwtService {
  return new JwtService({
    // jsonwebtoken would convert a string to a key object at each call, which takes 0.4 ms.
    secret: createSecretKey(secret, 'utf8'),
    signOptions: { algorithm: JWT_ALGORITHM, expiresIn },
    verifyOptions: { algorithms: [JWT_ALGORITHM] },
  });
}

/** Returns the claims of both tokens (contract 5). jsonwebtoken adds `iat` and `exp`. */
function toClaims({ id, fullname, email, role, sessionId }: AuthUser): Claims {
  return { tokenId: id, fullname, email, role, jti: sessionId };
}

function verify(service: JwtService, token: string, options?: JwtVerifyOptions): AuthUser | null {
  try {
    return toAuthUser(service.verify<Record<string, unknown>>(token, options));
  } catch {
    return null;
  }
}

/** Returns the user in verified claims; null for claims that this service did not write. */
export function toAuthUser({ tokenId, fullname, email, role, jti, iat, exp }: Claims): AuthUser | null {
  const knownRole = ROLES.find((candidate) => candidate === role);
  // jsonwebtoken accepts a token without `exp` and ignores `iat`.
  const hasTimes =
    typeof exp === 'number' && typeof iat === 'number' && iat <= Date.now() / 1000 + CLOCK_SKEW_S;
  const isOurs =
    isId(tokenId) && typeof fullname === 'string' && typeof email === 'string' && isUUID(jti) && hasTimes;
  if (!isOurs || knownRole === undefined) return null;
  return { id: tokenId, fullname, email, role: knownRole, sessionId: jti as string };
}
