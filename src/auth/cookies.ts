import type { CookieOptions, Request, Response } from 'express';

export const ACCESS_COOKIE = 'accessToken';
export const REFRESH_COOKIE = 'refreshToken';
export const BOTH_COOKIES = [ACCESS_COOKIE, REFRESH_COOKIE];

const SECOND = 1000;
const FLAGS: CookieOptions = { httpOnly: true, secure: true, sameSite: 'none' };
const ACCESS: CookieOptions = { ...FLAGS, path: '/' };
const REFRESH: CookieOptions = { ...FLAGS, path: '/api/refresh' };
/** As documented (contract 5); far longer than the tokens, whose own `exp` ends them. */
const ACCESS_MAX_AGE_MS = 600_000 * SECOND;
const REFRESH_MAX_AGE_MS = 864_000_000 * SECOND;

/** Sets both cookies of a session, or the access cookie alone where the refresh token stays as it is. */
export function setCookies(
  response: Response,
  { accessToken, refreshToken }: { readonly accessToken: string; readonly refreshToken?: string },
): void {
  forbidCopies(response);
  response.cookie(ACCESS_COOKIE, accessToken, { ...ACCESS, maxAge: ACCESS_MAX_AGE_MS });
  if (refreshToken !== undefined)
    response.cookie(REFRESH_COOKIE, refreshToken, { ...REFRESH, maxAge: REFRESH_MAX_AGE_MS });
}

export function clearCookies(response: Response): void {
  forbidCopies(response);
  response.clearCookie(ACCESS_COOKIE, ACCESS);
  response.clearCookie(REFRESH_COOKIE, REFRESH);
}

/**
 * A cookie's text; null when it is absent or empty. A value that `cookie-parser` read as JSON (`j:{}`) is a malformed
 * token, not a missing one.
 */
export function readCookie(request: Request, name: string): string | null {
  const cookie = (request.cookies as Readonly<Record<string, unknown>>)[name];
  if (cookie === undefined || cookie === '') return null;
  return typeof cookie === 'string' ? cookie : JSON.stringify(cookie);
}

/** An answer that sets cookies is stored by no cache, and is never a 304. */
function forbidCopies(response: Response): void {
  response.setHeader('Cache-Control', 'no-store');
  delete response.req.headers['if-none-match'];
  delete response.req.headers['if-modified-since'];
}
