import request, { type Response } from 'supertest';
import { cookiesOf, type Client, type Cookie } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { REFRESH_SECRET, startService, type TestService } from './support/service.js';
import { claimsOf, expiredToken, goodClaims, headerOf, signToken } from './support/tokens.js';

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

let service: TestService;
let ayu: Client;
let ayuId: number;

beforeAll(async () => {
  service = await startService();
  ayu = service.client();
  const response = await ayu.register().expect(201);
  ayuId = (response.body as { data: { user: { id: number } } }).data.user.id;
});

afterAll(() => service.stop());

function usersWith(token: string) {
  return service.client().setCookie('accessToken', token).get('/api/users');
}

function usersWithCookieHeader(header: string) {
  return request(service.url).get('/api/users').set('Cookie', header);
}

const FLAGS = { httponly: '', secure: '', samesite: 'None' };
/** `Expires` says again what Max-Age does, for browsers that do not know it. */
const EXPIRES = { expires: expect.any(String) as string };
const ACCESS_COOKIE = {
  name: 'accessToken',
  attributes: { path: '/', 'max-age': '600000', ...FLAGS, ...EXPIRES },
};
const REFRESH_COOKIE = {
  name: 'refreshToken',
  attributes: { path: '/api/refresh', 'max-age': '864000000', ...FLAGS, ...EXPIRES },
};

function attributesOf(response: Response): Pick<Cookie, 'name' | 'attributes'>[] {
  return cookiesOf(response).map(({ name, attributes }) => ({ name, attributes }));
}

describe('the cookies', () => {
  it.each(['/api/register', '/api/login'])('%s sets both exactly as documented', async (path) => {
    const response = await service
      .client()
      .post(path)
      .send({
        email: path === '/api/login' ? 'ayu@example.com' : 'cookies@example.com',
        fullname: 'Ayu',
        password: 'correct horse battery staple',
        passwordConfirmation: 'correct horse battery staple',
      });
    expect(response.status).toBeLessThan(300);
    expect(attributesOf(response)).toEqual([ACCESS_COOKIE, REFRESH_COOKIE]);
    expect(response.headers['cache-control']).toBe('no-store');
  });

  it('a refresh sets the access cookie exactly so, and no other', async () => {
    const client = service.client();
    await client.register({ email: 'refreshed@example.com' }).expect(201);
    const response = await client.get('/api/refresh').expect(200);
    expect(attributesOf(response)).toEqual([ACCESS_COOKIE]);
    expect(response.headers['cache-control']).toBe('no-store');
  });
});

describe('the tokens', () => {
  it.each([
    ['accessToken', 600],
    ['refreshToken', 864_000],
  ])('%s is an HS256 token with the documented claims and lives %d seconds', (name, lifetime) => {
    expect(headerOf(ayu.cookie(name))).toEqual({ alg: 'HS256', typ: 'JWT' });
    const claims = claimsOf(ayu.cookie(name));
    expect(claims).toEqual({
      tokenId: ayuId,
      fullname: 'Ayu Lestari',
      email: 'ayu@example.com',
      role: 'USER',
      jti: expect.stringMatching(UUID) as string,
      iat: expect.any(Number) as number,
      exp: (claims.iat as number) + lifetime,
    });
    expect(claims.jti).toBe(claimsOf(ayu.cookie('accessToken')).jti);
    expect(Math.abs((claims.iat as number) - Date.now() / 1000)).toBeLessThan(30);
  });
});

describe('the current user', () => {
  it('is id, fullname and email, taken from the access token; the database is not asked', async () => {
    const token = signToken(
      goodClaims({ tokenId: 2_000_000_000, fullname: 'From the token', email: 't@example.com' }),
    );
    const response = await usersWith(token);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      status: 'success',
      data: { user: { id: 2_000_000_000, fullname: 'From the token', email: 't@example.com' } },
    });
  });

  it.each([
    ['no cookie at all', ''],
    ['an empty cookie', 'accessToken='],
    ['other cookies', 'accesstoken=x; refreshToken=y'],
    ['an expired token', `accessToken=${expiredToken()}`],
  ])('%s: 401', async (_what, header) => {
    expectFailure(await usersWithCookieHeader(header), 401, MESSAGES.missingAccessToken);
  });

  it('tokens travel in cookies only: none is read from a header, a query or a body', async () => {
    const token = ayu.cookie('accessToken');
    const response = await request(service.url)
      .get(`/api/users?accessToken=${token}`)
      .set('Authorization', `Bearer ${token}`)
      .set('accessToken', token)
      .send({ accessToken: token });
    expectFailure(response, 401, MESSAGES.missingAccessToken);
  });

  it.each([
    ['rubbish', () => 'rubbish'],
    ['a text for claims', () => signToken('claims')],
    ['a cut signature', () => ayu.cookie('accessToken').slice(0, -3)],
    ['a refresh token', () => ayu.cookie('refreshToken')],
    [
      'changed under the same signature',
      () => {
        const [header = '', , signature = ''] = ayu.cookie('accessToken').split('.');
        const claims = Buffer.from(JSON.stringify(goodClaims({ role: 'ADMIN' }))).toString('base64url');
        return `${header}.${claims}.${signature}`;
      },
    ],
  ])('a token that is %s: 400', async (_what, token) => {
    expectFailure(await usersWith(token()), 400, MESSAGES.malformedAccessToken);
  });

  it.each([
    ['signed with another key', { secret: 'another key, which is long enough for anything' }],
    ['signed with the refresh key', { secret: REFRESH_SECRET }],
    ['unsigned (alg none)', { algorithm: 'none' }],
    ['of alg HS512', { algorithm: 'HS512' }],
    ['of alg RS256', { algorithm: 'RS256' }],
  ])('a token %s: 400, also when it has expired', async (_what, forgery) => {
    expectFailure(await usersWith(signToken(goodClaims(), forgery)), 400, MESSAGES.malformedAccessToken);
    expectFailure(await usersWith(expiredToken({}, forgery)), 400, MESSAGES.malformedAccessToken);
  });

  it.each([
    ['no id', { tokenId: undefined }],
    ['an id as text', { tokenId: '7' }],
    ['an id beyond every row', { tokenId: 2 ** 31 }],
    ['a name that is an object', { fullname: {} }],
    ['no role', { role: undefined }],
    ['an unknown role', { role: 'admin' }],
    ['no session', { jti: undefined }],
    ['a session that is no UUID', { jti: 'x' }],
    ['no exp', { exp: undefined }],
    ['a beginning in the future', { nbf: 4_000_000_000 }],
    ['no iat', { iat: undefined }],
    ['an iat in the future', { iat: Math.floor(Date.now() / 1000) + 300 }],
  ])('well-signed claims with %s: 400', async (_what, claims) => {
    expectFailure(await usersWith(signToken(goodClaims(claims))), 400, MESSAGES.malformedAccessToken);
  });
});
