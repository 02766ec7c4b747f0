import { createHash } from 'node:crypto';
import { newAccount, storedUser } from './support/accounts.js';
import { cookiesOf } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { ACCESS_SECRET, REFRESH_SECRET, startService, type TestService } from './support/service.js';
import { claimsOf, expiredToken, goodClaims, signToken } from './support/tokens.js';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

function refreshWith(token: string) {
  return service.client().setCookie('refreshToken', token, '/api/refresh').get('/api/refresh');
}

/** Makes a token the stored one of an account, as if the service had issued it. */
async function store(id: number, token: string): Promise<void> {
  await service.database.pool.query('UPDATE users SET refresh_token_digest = sha256($2) WHERE id = $1', [
    id,
    Buffer.from(token),
  ]);
}

describe('a refresh', () => {
  it('answers id, fullname, email and role and sets the access cookie alone (contract 4.3)', async () => {
    const { client, id, email } = await newAccount(service);
    const { refresh_token_digest: digest } = await storedUser(service, id);
    client.setCookie('accessToken', expiredToken());
    expectFailure(await client.get('/api/users'), 401, MESSAGES.missingAccessToken);
    for (let time = 0; time < 2; time += 1) {
      const response = await client.get('/api/refresh').expect(200);
      const user = { id, fullname: 'Ayu Lestari', email, role: 'USER' };
      expect(response.body).toEqual({ status: 'success', data: { user } });
      expect(cookiesOf(response).map(({ name }) => name)).toEqual(['accessToken']);
    }
    await client.get('/api/users').expect(200);
    expect((await storedUser(service, id)).refresh_token_digest).toEqual(digest);
  });

  it('reads user data from the token', async () => {
    const { client, id } = await newAccount(service);
    await service.database.pool.query("UPDATE users SET fullname = 'Behind its back' WHERE id = $1", [id]);
    const response = await client.get('/api/refresh').expect(200);
    expect(response.body).toMatchObject({ data: { user: { fullname: 'Ayu Lestari' } } });
  });

  it('compares with a SHA-256 digest; the token itself is not stored', async () => {
    const { client, id } = await newAccount(service);
    const token = client.cookie('refreshToken');
    const { refresh_token_digest: digest } = await storedUser(service, id);
    expect(digest).toEqual(createHash('sha256').update(token).digest());
    const { rows } = await service.database.pool.query('SELECT u::text FROM users u');
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});

describe('a refresh that is refused', () => {
  it('without the cookie: 401', async () => {
    const { client } = await newAccount(service);
    const inOtherCookie = service.client().setCookie('accessToken', client.cookie('refreshToken'));
    for (const response of [
      await service.client().get('/api/refresh'),
      await refreshWith(''),
      await inOtherCookie.get('/api/refresh'),
    ]) {
      expectFailure(response, 401, MESSAGES.missingRefreshToken);
      expect(cookiesOf(response)).toEqual([]);
    }
  });

  it('with rubbish: 401', async () => {
    for (const token of ['rubbish', '..', 'bm8ganNvbg.e30.x', 'j:{"a":1}', 'x'.repeat(6000)])
      expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
  });

  it('with a token that is expired, of another key or algorithm, or unsigned: 401, though it is the stored one', async () => {
    const { client, id, email } = await newAccount(service);
    const { jti } = claimsOf(client.cookie('refreshToken'));
    const claims = goodClaims({ tokenId: id, email, jti });
    const forged = [
      { secret: 'another key, which is long enough for anything' },
      { secret: ACCESS_SECRET },
      { secret: '' },
      { secret: REFRESH_SECRET, algorithm: 'HS512' },
      { algorithm: 'none' },
      { algorithm: 'None', secret: REFRESH_SECRET },
    ].map((forgery) => signToken(claims, forgery));
    for (const token of [...forged, expiredToken({ tokenId: id, email, jti }, { secret: REFRESH_SECRET })]) {
      await store(id, token);
      expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
    }
    const good = signToken(claims, { secret: REFRESH_SECRET });
    await store(id, good);
    expect((await refreshWith(good)).status).toBe(200);
  });

  it('with a well-signed token that is not the stored one of the live session: 401', async () => {
    const { client, id, email } = await newAccount(service);
    const other = await newAccount(service);
    const { jti } = claimsOf(client.cookie('refreshToken'));
    const secret = { secret: REFRESH_SECRET };
    const token = client.cookie('refreshToken');
    const changed = token.slice(0, -2) + (token.at(-2) === 'A' ? 'B' : 'A') + (token.at(-1) ?? '');
    for (const wrong of [
      client.cookie('accessToken'),
      changed,
      signToken(goodClaims({ tokenId: id, email, jti }), secret),
      signToken({ ...claimsOf(other.client.cookie('refreshToken')), tokenId: id }, secret),
    ])
      expectFailure(await refreshWith(wrong), 401, MESSAGES.refreshToken);
    await client.get('/api/refresh').expect(200);
    await service.database.pool.query('UPDATE users SET session_id = gen_random_uuid() WHERE id = $1', [id]);
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.refreshToken);
    await service.database.pool.query('DELETE FROM users WHERE id = $1', [id]);
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.refreshToken);
  });

  it.each([
    ['no id', { tokenId: undefined }],
    ['an id beyond every integer', { tokenId: 2 ** 40 }],
    ['no e-mail', { email: null }],
    ['an unknown role', { role: 'OWNER' }],
    ['no session', { jti: undefined }],
  ])('with well-signed claims with %s: 401', async (_what, claims) => {
    const token = signToken(goodClaims(claims), { secret: REFRESH_SECRET });
    expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
  });
});
