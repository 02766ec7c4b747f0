import { registerAccount } from './support/accounts.js';
import { importBuilt } from './support/built.js';
import { type Client, parseCookies } from './support/client.js';
import { beginTransaction, waitForLock } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { REFRESH_SECRET, useService } from './support/service.js';
import { buildClaims, decodeClaims, signExpiredToken, signToken } from './support/tokens.js';

const service = await useService();

async function hasSession(userId: number): Promise<boolean> {
  return (await service.readSessions(userId)).length > 0;
}

function clientWith(accessToken: string): Client {
  return service.client().setCookie('accessToken', accessToken);
}

describe('POST /api/logout', () => {
  it('returns 204 and clears both cookies on their own paths with their flags', async () => {
    const { client } = await registerAccount(service);
    const response = await client.post('/api/logout').expect(204);
    expect(response.text).toBe('');
    const flags = { expires: 'Thu, 01 Jan 1970 00:00:00 GMT', httponly: '', secure: '', samesite: 'None' };
    expect(parseCookies(response)).toEqual([
      { name: 'accessToken', value: '', attributes: { path: '/', ...flags } },
      { name: 'refreshToken', value: '', attributes: { path: '/api/refresh', ...flags } },
    ]);
    expectFailure(await client.get('/api/users'), 401, MESSAGES.missingAccessToken);
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.missingRefreshToken);
  });

  it('ends the session of an expired, correctly signed access cookie', async () => {
    const { client, id } = await registerAccount(service);
    const { jti } = decodeClaims(client.cookie('accessToken'));
    // The claim `tokenId` is the id of the account.
    const expired = signExpiredToken({ tokenId: id, jti });
    await clientWith(expired).post('/api/logout').expect(204);
    expect(await hasSession(id)).toBe(false);
  });

  it('waits for a parallel login of the account before it ends the session, so that the two cannot deadlock', async () => {
    const { client, id } = await registerAccount(service);
    const login = await beginTransaction(service.database, `SELECT FROM users WHERE id = ${id} FOR UPDATE`);
    const logout = client.post('/api/logout').then((response) => response); // `then` sends the request.
    await waitForLock(service.database);
    await login.query(`UPDATE sessions SET refresh_token_digest = NULL WHERE user_id = ${id}`);
    await login.commit();
    expect((await logout).status).toBe(204);
    expect(await hasSession(id)).toBe(false);
  });

  it('ends the session even if the client has disconnected before its turn', async () => {
    const { client, id } = await registerAccount(service);
    const { AuthService } = await importBuilt('src/auth/auth.service.js');
    const disconnected = { clientAddress: '192.0.2.1', disconnectSignal: AbortSignal.abort() };
    await service.app.get(AuthService).logout(client.cookie('accessToken'), disconnected);
    expect(await hasSession(id)).toBe(false);
  });

  it('returns 204 to anyone and clears both cookies, even without a valid access cookie', async () => {
    const tokens = ['', 'rubbish', 'j:{"tokenId":1}', 'x'.repeat(6000)];
    for (const client of [service.client(), ...tokens.map(clientWith)]) {
      const response = await client.post('/api/logout').expect(204);
      expect(parseCookies(response).map(({ name, value }) => [name, value])).toEqual([
        ['accessToken', ''],
        ['refreshToken', ''],
      ]);
    }
  });

  it('ends no session with an access cookie that is forged, or that names an unknown session or a session of another account', async () => {
    const { client, id } = await registerAccount(service);
    const other = await registerAccount(service);
    const claims = decodeClaims(client.cookie('accessToken'));
    for (const token of [
      signToken(claims, { secret: 'another key, which is long enough for anything' }),
      signToken(claims, { secret: REFRESH_SECRET }),
      signToken(claims, { algorithm: 'HS512' }),
      signToken(claims, { algorithm: 'none' }),
      signToken(buildClaims({ tokenId: id })),
      signToken(buildClaims({ tokenId: other.id, jti: claims.jti })),
    ])
      await clientWith(token).post('/api/logout').expect(204);
    expect(await hasSession(id)).toBe(true);
    expect(await hasSession(other.id)).toBe(true);
  });
});
