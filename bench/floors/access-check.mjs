import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Creates a minimal check of the access cookie: the HS256 signature and the expiry. */
export function createAccessCheck(secret) {
  return (request) => {
    const token = /(?:^|; ?)accessToken=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
    const [header, payload, signature] = token?.split('.') ?? [];
    if (signature === undefined) return false;
    const expected = createHmac('sha256', secret).update(`${header}.${payload}`).digest();
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
    return JSON.parse(Buffer.from(payload, 'base64url').toString()).exp > Date.now() / 1000;
  };
}
