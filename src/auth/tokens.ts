import { createSecretKey } from 'node:crypto';
import { JwtService, type JwtVerifyOptions } from '@nestjs/jwt';
import { isUUID } from 'class-validator';
import { type AuthUser, ROLES } from '../common/access.js';
import { isId } from '../common/validation/whole-number.js';

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

/**
 * Signs and verifies tokens of one kind: access tokens or refresh tokens. `JwtCookieStrategy` verifies the access tokens that
 * authorize requests.
 */
export class Tokens {
  readonly #jwt: JwtService;

  constructor(secret: string, lifetimeS: number) {
    this.#jwt = new JwtService({
      // jsonwebtoken would convert a string to a key object at each call, which takes 0.4 ms.
      secret: createSecretKey(secret, 'utf8'),
      signOptions: { algorithm: JWT_ALGORITHM, expiresIn: lifetimeS },
      verifyOptions: { algorithms: [JWT_ALGORITHM] },
    });
  }

  /** Signs a token with the claims of contract 5. jsonwebtoken adds `iat` and `exp`. */
  sign({ id, fullname, email, role, sessionId }: AuthUser): string {
    return this.#jwt.sign({ tokenId: id, fullname, email, role, jti: sessionId });
  }

  /** Returns the user of a correctly signed token; null for any other text, and for an expired token unless `ignoreExpiration`. */
  verify(token: string, options?: Pick<JwtVerifyOptions, 'ignoreExpiration'>): AuthUser | null {
    try {
      return toAuthUser(this.#jwt.verify<Record<string, unknown>>(token, options));
    } catch {
      return null;
    }
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
