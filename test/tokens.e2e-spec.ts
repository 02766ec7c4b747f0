import request from 'supertest';
import { registerAccount } from './support/accounts.js';
import { parseCookies } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { REFRESH_SECRET, useService } from './support/service.js';
import { buildClaims, decodeClaims, decodeHeader, signExpiredToken, signToken } from './support/tokens.js';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const service = await useService();
const began = Date.now();
const account = await registerAccount(service);

/** Sends GET /api/users with this access cookie alone. */
function getUser(token: string) {
  return service.client().setCookie('accessToken', token).get('/api/users');
}

/** Attributes that both cookies have. */
const SHARED = { httponly: '', secure: '', samesite: 'None', expires: expect.any(String) as string };
/** `max-age` is 1000 times the token's lifetime in seconds (contract 5). */
const ACCESS_COOKIE = { name: 'accessToken', attributes: { path: '/', 'max-age': '600000', ...SHARED } };
const REFRESH_COOKIE = {
  name: 'refreshToken',
  attributes: { path: '/api/refresh', 'max-age': '864000000', ...SHARED },
};

it('the cookies of a session have the documented attributes, and caches store no response that sets them', async () => {
  const client = service.client();
  const credentials = { email: 'cookies@example.com', password: 'correct horse battery staple' };
  for (const [response, cookies] of [
    [await client.register(credentials).expect(201), [ACCESS_COOKIE, REFRESH_COOKIE]],
    [await client.post('/api/login').send(credentials).expect(200), [ACCESS_COOKIE, REFRESH_COOKIE]],
    [await client.get('/api/refresh').expect(200), [ACCESS_COOKIE]],
  ] as const) {
    const received = parseCookies(response).map(({ name, attributes }) => ({ name, attributes }));
    expect(received).toEqual(cookies);
    expect(response.headers['cache-control']).toBe('no-store');
  }
});

it.each([
  ['accessToken', 600],
  ['refreshToken', 864_000],
])('the %s is an HS256 token with the documented claims and expires after %d seconds', (name, lifetime) => {
  expect(decodeHeader(account.client.cookie(name))).toEqual({ alg: 'HS256', typ: 'JWT' });
  const claims = decodeClaims(account.client.cookie(name));
  expect(claims).toEqual({
    tokenId: account.id,
    fullname: 'Ayu Lestari',
    email: account.email,
    role: 'USER',
    jti: expect.stringMatching(UUID) as string,
    iat: expect.any(Number) as number,
    exp: (claims.iat as number) + lifetime,
  });
  expect(claims.jti).toBe(decodeClaims(account.client.cookie('accessToken')).jti);
  expect(claims.iat).toBeGreaterThanOrEqual(Math.floor(began / 1000));
  expect(claims.iat).toBeLessThanOrEqual(Date.now() / 1000);
});

describe('GET /api/users', () => {
  it('returns id, fullname and email from the access token, even if the account does not exist', async () => {
    const user = { fullname: 'From the token', email: 't@example.com' };
    const response = await getUser(signToken(buildClaims({ tokenId: 2_000_000_000, ...user }))).expect(200);
    expect(response.body).toEqual({ status: 'success', data: { user: { id: 2_000_000_000, ...user } } });
  });

  it('reads a token only from the cookie accessToken', async () => {
    const token = account.client.cookie('accessToken');
    const send = (name: string, value: string) =>
      request(service.url).get(`/api/users?accessToken=${token}`).set(name, value);
    for (const response of [
      await send('Cookie', 'accessToken='),
      await send('Cookie', `accesstoken=${token}; refreshToken=${token}`),
      await send('Authorization', `Bearer ${token}`),
      await send('accessToken', token).send({ accessToken: token }),
    ])
      expectFailure(response, 401, MESSAGES.missingAccessToken);
  });

  it.each([
    ['a token with a text instead of claims', () => signToken('claims')],
    ['a token whose signature is cut', () => account.client.cookie('accessToken').slice(0, -3)],
    ['a token as a JSON text of cookie-parser', () => `j:"${account.client.cookie('accessToken')}"`],
    ['deeply nested JSON', () => `j:${'['.repeat(7000)}${']'.repeat(7000)}`],
    ['a refresh token', () => account.client.cookie('refreshToken')],
    [
      'a token with the signature of another token',
      () => {
        const [, , signature = ''] = account.client.cookie('accessToken').split('.');
        return signToken(buildClaims({ role: 'ADMIN' })).replace(/[^.]*$/, signature);
      },
    ],
  ])('returns 400 for %s', async (_what, token) => {
    expectFailure(await getUser(token()), 400, MESSAGES.malformedAccessToken);
  });

  it.each([
    ['signed with another key', { secret: 'another key, which is long enough for anything' }],
    ['signed with the refresh key', { secret: REFRESH_SECRET }],
    ['unsigned (alg none)', { algorithm: 'none' }],
    ['of alg HS512', { algorithm: 'HS512' }],
    ['of alg RS256', { algorithm: 'RS256' }],
  ])('returns 400 for a token %s, even if the token has expired', async (_what, forgery) => {
    expectFailure(await getUser(signToken(buildClaims(), forgery)), 400, MESSAGES.malformedAccessToken);
    expectFailure(await getUser(signExpiredToken({}, forgery)), 400, MESSAGES.malformedAccessToken);
  });

  it.each([
    ['no id', { tokenId: undefined }],
    ['an id as text', { tokenId: '7' }],
    ['an id above the range of a PostgreSQL integer', { tokenId: 2 ** 31 }],
    ['a name that is an object', { fullname: {} }],
    ['no role', { role: undefined }],
    ['an unknown role', { role: 'admin' }],
    ['no session id', { jti: undefined }],
    ['a session id that is no UUID', { jti: 'x' }],
    ['no exp', { exp: undefined }],
    ['an nbf in the future', { nbf: 4_000_000_000 }],
    ['no iat', { iat: undefined }],
    ['an iat in the future', { iat: Math.floor(Date.now() / 1000) + 300 }],
  ])('returns 400 for well-signed claims with %s', async (_what, claims) => {
    expectFailure(await getUser(signToken(buildClaims(claims))), 400, MESSAGES.malformedAccessToken);
  });
});
