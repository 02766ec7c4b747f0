import type { CookieOptions, Response } from 'express';
import { preventNotModified } from '../common/http/if-match.js';
import type { IssuedTokens } from './tokens.js';

export const ACCESS_COOKIE = 'accessToken';
export const REFRESH_COOKIE = 'refreshToken';
export const BOTH_COOKIES = [ACCESS_COOKIE, REFRESH_COOKIE];

const FLAGS: CookieOptions = { httpOnly: true, secure: true, sameSite: 'none' };
/** `maxAge` is the documented Max-Age (contract 5) in milliseconds. The tokens themselves expire much earlier. */
const ACCESS: CookieOptions = { ...FLAGS, path: '/', maxAge: 600_000_000 };
const REFRESH: CookieOptions = { ...FLAGS, path: '/api/refresh', maxAge: 864_000_000_000 };

export function setCookies(response: Response, { accessToken, refreshToken }: IssuedTokens): void {
  forbidCaching(response);
  response.cookie(ACCESS_COOKIE, accessToken, ACCESS);
  if (refreshToken !== undefined) response.cookie(REFRESH_COOKIE, refreshToken, REFRESH);
}

export function clearCookies(response: Response): void {
  forbidCaching(response);
  response.clearCookie(ACCESS_COOKIE, ACCESS);
  response.clearCookie(REFRESH_COOKIE, REFRESH);
}

function forbidCaching(response: Response): void {
  response.setHeader('Cache-Control', 'no-store');
  // With `If-None-Match: *`, GET /api/refresh would get a 304, which contains no user.
  preventNotModified(response);
}
