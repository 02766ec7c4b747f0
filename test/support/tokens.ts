import { createHmac, randomUUID } from 'node:crypto';
import { ACCESS_SECRET } from './service.js';

type Claims = Record<string, unknown>;

export function decodeClaims(token: string): Claims {
  return decode(token.split('.')[1]);
}

export function decodeHeader(token: string): Record<string, unknown> {
  return decode(token.split('.')[0]);
}

/** Differences between a forged token and a token of the service. */
interface Forgery {
  readonly secret?: string;
  /** Algorithm in the header. The signature is an HMAC with the hash length of the algorithm; `none` leaves it empty. */
  readonly algorithm?: string;
}

/** Signs a token by hand (RFC 7515), because libraries do not sign invalid tokens. */
export function signToken(claims: unknown, { secret = ACCESS_SECRET, algorithm = 'HS256' }: Forgery = {}) {
  const content = `${encode({ alg: algorithm, typ: 'JWT' })}.${encode(claims)}`;
  if (algorithm === 'none') return `${content}.`;
  const hash = `sha${/\d+$/.exec(algorithm)?.[0] ?? '256'}`;
  return `${content}.${createHmac(hash, secret).update(content).digest('base64url')}`;
}

/** Returns valid claims of an access token, with these changes. */
export function buildClaims(claims: Claims = {}): Claims {
  const now = Math.floor(Date.now() / 1000);
  return {
    tokenId: 1, // id of the account
    fullname: 'Ayu Lestari',
    email: 'ayu@example.com',
    role: 'USER',
    jti: randomUUID(),
    iat: now,
    exp: now + 600,
    ...claims,
  };
}

/** Returns an access token that expired a second ago, correctly signed by default. */
export function signExpiredToken(claims: Claims = {}, forgery: Forgery = {}): string {
  const now = Math.floor(Date.now() / 1000);
  return signToken(buildClaims({ iat: now - 601, exp: now - 1, ...claims }), forgery);
}

function decode(part = ''): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
