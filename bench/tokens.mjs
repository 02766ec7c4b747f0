import { Buffer } from 'node:buffer';
import { createHash, createHmac, randomBytes } from 'node:crypto';

/** Secret that the first process of a run generates for all others, because production rejects published secrets. */
export const BENCH_SECRET = (process.env.BENCH_SECRET ??= randomBytes(32).toString('hex'));
export const ACCESS_SECRET = `access ${BENCH_SECRET}`;
export const REFRESH_SECRET = `refresh ${BENCH_SECRET}`;
/** Longer than a run. Tokens of the service expire after ten minutes. */
const LIFETIME_S = 24 * 60 * 60;

/** Signs a token like the service (contract 5). */
export function sign(claims, secret, lifetimeSeconds) {
  const iat = Math.floor(Date.now() / 1000);
  const payload = { ...claims, iat, exp: iat + lifetimeSeconds };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** Returns the Cookie header of an account of `seedAccounts`. */
export function createCookie(id, role = 'USER') {
  const claims = {
    tokenId: id,
    fullname: `Customer ${id}`,
    email: emailOf(id),
    role,
    jti: sessionIdOf(id),
  };
  return `accessToken=${sign(claims, ACCESS_SECRET, LIFETIME_S)}`;
}

/** Returns the session id of a seeded account: a UUID with the hash of the account's id. */
export function sessionIdOf(id) {
  return createHash('md5')
    .update(`session ${id}`)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}

export function emailOf(id) {
  return `customer${id}@example.com`;
}
