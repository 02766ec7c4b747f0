import { newAccount, signIn, storedUser } from './support/accounts.js';
import { type Client, cookiesOf } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { REFRESH_SECRET, startService, type TestService } from './support/service.js';
import { expiredToken, goodClaims, signToken } from './support/tokens.js';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

async function hasRefreshToken(id: number): Promise<boolean> {
  return (await storedUser(service, id)).refresh_token_digest !== null;
}

/** A client with no cookie but this access cookie. */
function bearer(accessToken: string): Client {
  return service.client().setCookie('accessToken', accessToken);
}

describe('a logout', () => {
  it('decisions, Accounts: answers 204 and clears both cookies on their own paths with their flags', async () => {
    const { client } = await newAccount(service);
    const response = await client.post('/api/logout').expect(204);
    expect(response.text).toBe('');
    expect(response.headers['cache-control']).toBe('no-store');
    const cleared = (path: string): object => ({
      path,
      expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
      httponly: '',
      secure: '',
      samesite: 'None',
    });
    expect(cookiesOf(response)).toEqual([
      { name: 'accessToken', value: '', attributes: cleared('/') },
      { name: 'refreshToken', value: '', attributes: cleared('/api/refresh') },
    ]);
    expectFailure(await client.get('/api/users'), 401, MESSAGES.missingAccessToken);
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.missingRefreshToken);
  });

  it('decisions, Accounts: deletes the stored refresh token, so that a copy of it refreshes no more', async () => {
    const { client, id } = await newAccount(service);
    const copy = client.clone();
    await client.post('/api/logout').expect(204);
    expect(await hasRefreshToken(id)).toBe(false);
    expectFailure(await copy.get('/api/refresh'), 401, MESSAGES.refreshToken);
  });

  it('decisions, Accounts: deletes it with an access cookie that is well signed and expired, too', async () => {
    const { client, id, email } = await newAccount(service);
    await bearer(expiredToken({ tokenId: id, email }))
      .post('/api/logout')
      .expect(204);
    expect(await hasRefreshToken(id)).toBe(false);
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.refreshToken);
  });

  it('decisions, Accounts: ends the session of its own account alone', async () => {
    const [leaving, staying] = [await newAccount(service), await newAccount(service)];
    await leaving.client.post('/api/logout').expect(204);
    expect(await hasRefreshToken(staying.id)).toBe(true);
    await staying.client.get('/api/refresh').expect(200);
  });

  it('hostile input: a body, which it has no use for, is not read, broken or not', async () => {
    const send = (body: string, type = 'application/json') =>
      service.client().post('/api/logout').set('Content-Type', type).send(body);
    await send('{').expect(204);
    await send('"text"').expect(204);
    await send('{}', 'application/json; charset=utf-99').expect(204);
  });

  it('decisions, Accounts: can be repeated, and a login follows it', async () => {
    const { client, email } = await newAccount(service);
    const copy = client.clone();
    await client.post('/api/logout').expect(204);
    await client.post('/api/logout').expect(204);
    await copy.post('/api/logout').expect(204);
    await (await signIn(service, email)).get('/api/refresh').expect(200);
  });

  it('decisions, Accounts: many at once all answer 204', async () => {
    const { client, id } = await newAccount(service);
    const copies = Array.from({ length: 10 }, () => client.clone());
    const responses = await Promise.all(copies.map((copy) => copy.post('/api/logout')));
    expect(responses.map(({ status }) => status)).toEqual(copies.map(() => 204));
    expect(await hasRefreshToken(id)).toBe(false);
  });
});

describe('a logout by somebody else', () => {
  it('decisions, Accounts: anyone is answered 204 with both cookies cleared, and no session ends', async () => {
    const { id } = await newAccount(service);
    for (const client of [
      service.client(),
      bearer(''),
      bearer('rubbish'),
      bearer('j:{"tokenId":1}'),
      bearer('x'.repeat(6000)),
    ]) {
      const response = await client.post('/api/logout').expect(204);
      expect(cookiesOf(response).map(({ name, value }) => [name, value])).toEqual([
        ['accessToken', ''],
        ['refreshToken', ''],
      ]);
    }
    expect(await hasRefreshToken(id)).toBe(true);
  });

  it.each([
    ['of another key', { secret: 'another key, which is long enough for anything' }],
    ['of the key of the refresh tokens', { secret: REFRESH_SECRET }],
    ['of another algorithm', { algorithm: 'HS512' }],
    ['that is unsigned', { algorithm: 'none' }],
  ])(
    'decisions, Accounts: an access cookie %s is answered 204 and deletes nothing',
    async (_what, forgery) => {
      const { client, id, email } = await newAccount(service);
      const forged = signToken(goodClaims({ tokenId: id, email }), forgery);
      await bearer(forged).post('/api/logout').expect(204);
      expect(await hasRefreshToken(id)).toBe(true);
      await client.get('/api/refresh').expect(200);
    },
  );

  it('decisions, Accounts: a refresh token in place of the access cookie deletes nothing', async () => {
    const { client, id } = await newAccount(service);
    await bearer(client.cookie('refreshToken')).post('/api/logout').expect(204);
    expect(await hasRefreshToken(id)).toBe(true);
  });

  it('decisions, Settings: a foreign origin is refused and ends nothing', async () => {
    const { client, id } = await newAccount(service);
    const response = await client.post('/api/logout').set('Origin', 'https://evil.example');
    expectFailure(response, 403, MESSAGES.origin);
    expect(cookiesOf(response)).toEqual([]);
    expect(await hasRefreshToken(id)).toBe(true);
  });
});
