import { createHash } from 'node:crypto';
import { registerAccount } from './support/accounts.js';
import { parseCookies } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { ACCESS_SECRET, REFRESH_SECRET, useService } from './support/service.js';
import { buildClaims, decodeClaims, signExpiredToken, signToken } from './support/tokens.js';

const REFRESH_KEY = { secret: REFRESH_SECRET };

const service = await useService();

function refreshWith(token: string) {
  return service.client().setCookie('refreshToken', token, '/api/refresh').get('/api/refresh');
}

/** Stores the digest of a token for the only session of an account, as if the service had issued the token. */
async function storeDigest(id: number, token: string): Promise<void> {
  const { rowCount } = await service.database.pool.query(
    'UPDATE sessions SET refresh_token_digest = sha256($2) WHERE user_id = $1',
    [id, Buffer.from(token)],
  );
  expect(rowCount).toBe(1);
}

describe('GET /api/refresh', () => {
  it('returns the user and sets a new access cookie on every call with the same refresh token (contract 4.3)', async () => {
    const { client, id, email } = await registerAccount(service);
    client.setCookie('accessToken', signExpiredToken());
    expectFailure(await client.get('/api/users'), 401, MESSAGES.missingAccessToken);
    for (let round = 0; round < 2; round += 1) {
      // A 304 would contain no user.
      const response = await client.get('/api/refresh').set('If-None-Match', '*').expect(200);
      const user = { id, fullname: 'Ayu Lestari', email, role: 'USER' };
      expect(response.body).toEqual({ status: 'success', data: { user } });
      expect(parseCookies(response).map(({ name }) => name)).toEqual(['accessToken']);
    }
    await client.get('/api/users').expect(200);
    // The table contains the digest of the refresh token, which the refreshes did not change.
    const digest = createHash('sha256').update(client.cookie('refreshToken')).digest();
    expect(await service.readSessions(id)).toMatchObject([{ refresh_token_digest: digest }]);
  });

  it('returns the name, email and role of the account, not those in the refresh token', async () => {
    const { client, id } = await registerAccount(service);
    const user = { fullname: 'Changed', email: 'changed@example.com', role: 'ADMIN' };
    // Changed by SQL, because a change of email or role by the service ends the session.
    await service.database.query('UPDATE users SET fullname = $2, email = $3, role = $4 WHERE id = $1', [
      id,
      ...Object.values(user),
    ]);
    const response = await client.get('/api/refresh').expect(200);
    expect(response.body).toEqual({ status: 'success', data: { user: { id, ...user } } });
    expect(decodeClaims(client.cookie('accessToken'))).toMatchObject({ tokenId: id, ...user });
  });
});

describe('GET /api/refresh responds with 401 to', () => {
  it('a request whose refresh cookie is missing or empty', async () => {
    const { client } = await registerAccount(service);
    const clientWithMisplacedToken = service.client().setCookie('accessToken', client.cookie('refreshToken'));
    for (const response of [await refreshWith(''), await clientWithMisplacedToken.get('/api/refresh')]) {
      expectFailure(response, 401, MESSAGES.missingRefreshToken);
      expect(parseCookies(response)).toEqual([]);
    }
  });

  it('a malformed token', async () => {
    // `bm8ganNvbg` is Base64 of `no json`. The cookie parser parses a cookie that starts with `j:` as JSON.
    for (const token of ['rubbish', '..', 'bm8ganNvbg.e30.x', 'j:{"a":1}', 'x'.repeat(6000)])
      expectFailure(await refreshWith(token), 401, MESSAGES.invalidRefreshToken);
  });

  it('a stored token that is expired, unsigned, of another key or algorithm, of another account or of no session', async () => {
    const { client, id, email } = await registerAccount(service);
    const { jti } = decodeClaims(client.cookie('refreshToken'));
    // The claim `tokenId` is the id of the account.
    const claims = buildClaims({ tokenId: id, email, jti });
    const forged = [
      { secret: 'another key, which is long enough for anything' },
      { secret: ACCESS_SECRET },
      { secret: '' },
      { secret: REFRESH_SECRET, algorithm: 'HS512' },
      { algorithm: 'none' },
      { algorithm: 'None', secret: REFRESH_SECRET },
    ].map((forgery) => signToken(claims, forgery));
    for (const token of [
      ...forged,
      signExpiredToken({ tokenId: id, email, jti }, REFRESH_KEY),
      signToken({ ...claims, tokenId: 1 }, REFRESH_KEY),
      signToken({ ...claims, jti: undefined }, REFRESH_KEY),
    ]) {
      await storeDigest(id, token);
      expectFailure(await refreshWith(token), 401, MESSAGES.invalidRefreshToken);
    }
    const good = signToken(claims, REFRESH_KEY);
    await storeDigest(id, good);
    expect((await refreshWith(good)).status).toBe(200);
  });

  it('a token whose session does not exist or stores another token', async () => {
    const { client, id, email } = await registerAccount(service);
    const other = await registerAccount(service);
    const { jti } = decodeClaims(client.cookie('refreshToken'));
    const token = client.cookie('refreshToken');
    // Changes the second-last character, because the last character has unused bits.
    const withOtherSignature = token.slice(0, -2) + (token.at(-2) === 'A' ? 'B' : 'A') + token.slice(-1);
    for (const wrong of [
      client.cookie('accessToken'),
      withOtherSignature,
      signToken(buildClaims({ tokenId: id, email, jti }), REFRESH_KEY),
      signToken({ ...decodeClaims(other.client.cookie('refreshToken')), tokenId: id }, REFRESH_KEY),
    ])
      expectFailure(await refreshWith(wrong), 401, MESSAGES.invalidRefreshToken);
    await client.get('/api/refresh').expect(200);
    await service.database.query('UPDATE sessions SET id = gen_random_uuid() WHERE user_id = $1', [id]);
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.invalidRefreshToken);
  });
});
