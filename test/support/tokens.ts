import { createHmac, randomUUID } from 'node:crypto';
import { ACCESS_SECRET } from './service.js';

export type Claims = Record<string, unknown>;

/** The claims of a JSON Web Token, unverified. */
export function claimsOf(token: string): Claims {
  return partOf(token, 1);
}

export function headerOf(token: string): Claims {
  return partOf(token, 0);
}

/** How a forged token differs from one of the service's own. */
export interface Forgery {
  readonly secret?: string;
  /** The algorithm that its header names; HS256, HS384 and HS512 are also signed with. */
  readonly algorithm?: string;
}

/** A token made by hand (RFC 7515), for what no signing library would make. */
export function signToken(
  claims: unknown,
  { secret = ACCESS_SECRET, algorithm = 'HS256' }: Forgery = {},
): string {
  const content = `${encode({ alg: algorithm, typ: 'JWT' })}.${encode(claims)}`;
  if (algorithm === 'none') return `${content}.`;
  const hash = `sha${/\d+$/.exec(algorithm)?.[0] ?? '256'}`;
  return `${content}.${createHmac(hash, secret).update(content).digest('base64url')}`;
}

/** Claims as the service makes them, ten minutes long from now. */
export function goodClaims(claims: Claims = {}): Claims {
  const now = Math.floor(Date.now() / 1000);
  return {
    tokenId: 1,
    fullname: 'Ayu Lestari',
    email: 'ayu@example.com',
    role: 'USER',
    jti: randomUUID(),
    iat: now,
    exp: now + 600,
    ...claims,
  };
}

/** An access token, well signed, that ended a second ago. */
export function expiredToken(claims: Claims = {}, forgery: Forgery = {}): string {
  const now = Math.floor(Date.now() / 1000);
  return signToken(goodClaims({ iat: now - 601, exp: now - 1, ...claims }), forgery);
}

function partOf(token: string, index: number): Claims {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as Claims;
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
