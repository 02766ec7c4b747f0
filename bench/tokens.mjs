import { Buffer } from 'node:buffer';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';

/** Made by the first process of a run and handed to the others: production refuses what a file publishes. */
export const BENCH_SECRET = (process.env.BENCH_SECRET ??= randomBytes(32).toString('hex'));
export const ACCESS_SECRET = `access ${BENCH_SECRET}`;
export const REFRESH_SECRET = `refresh ${BENCH_SECRET}`;
/** Longer than the service's ten minutes: a token is to outlive a run. */
const LIFETIME_S = 24 * 60 * 60;

/** A token signed as the service does it (contract 5). */
export function sign(claims, secret, lifetimeSeconds) {
  const iat = Math.floor(Date.now() / 1000);
  const payload = { ...claims, jti: randomUUID(), iat, exp: iat + lifetimeSeconds };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** The Cookie header of a seeded account (see seed-writes.mjs), id and number being the same. */
export function cookieOf(id, role = 'USER') {
  const claims = { tokenId: id, fullname: `Customer ${id}`, email: emailOf(id), role };
  return `accessToken=${sign(claims, ACCESS_SECRET, LIFETIME_S)}`;
}

export function emailOf(id) {
  return `customer${id}@example.com`;
}
