import { createHash } from 'node:crypto';
import { cookiesOf, type Client } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { ACCESS_SECRET, REFRESH_SECRET, startService, type TestService } from './support/service.js';
import { claimsOf, expiredToken, goodClaims, signToken } from './support/tokens.js';

let service: TestService;
let accounts = 0;

interface Account {
  readonly client: Client;
  readonly id: number;
  readonly email: string;
  readonly password: string;
}

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

async function newAccount(): Promise<Account> {
  accounts += 1;
  const email = `refresher-${accounts}@example.com`;
  const client = service.client();
  const password = 'kue lapis legit';
  const response = await client.register({ email, password }).expect(201);
  return { client, id: (response.body as { data: { user: { id: number } } }).data.user.id, email, password };
}

function refreshWith(token: string) {
  return service.client().setCookie('refreshToken', token, '/api/refresh').get('/api/refresh');
}

async function storedDigest(id: number): Promise<Buffer | null> {
  const { rows } = await service.database.pool.query<{ digest: Buffer | null }>(
    'SELECT refresh_token_digest AS digest FROM users WHERE id = $1',
    [id],
  );
  return rows[0]?.digest ?? null;
}

describe('a refresh', () => {
  it('interface 4.3: answers id, fullname, email and role under data.user', async () => {
    const { client, id, email } = await newAccount();
    const response = await client.get('/api/refresh');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      status: 'success',
      data: { user: { id, fullname: 'Ayu Lestari', email, role: 'USER' } },
    });
  });

  it('interface 4.3, 5 rule 2: sets a new access cookie that opens what the old one did', async () => {
    const { client } = await newAccount();
    client.setCookie('accessToken', expiredToken());
    expectFailure(await client.get('/api/users'), 401, MESSAGES.missingAccessToken);
    await client.get('/api/refresh').expect(200);
    await client.get('/api/users').expect(200);
  });

  it('interface 4.3: issues no new refresh cookie, and the refresh token stays good', async () => {
    const { client, id } = await newAccount();
    const digest = await storedDigest(id);
    for (let time = 0; time < 3; time += 1) {
      const response = await client.get('/api/refresh').expect(200);
      expect(cookiesOf(response).map(({ name }) => name)).toEqual(['accessToken']);
    }
    expect(await storedDigest(id)).toEqual(digest);
  });

  it('interface 4.3: is a 200 also for a caller who claims to have the answer already', async () => {
    const client = service.client();
    await client.register({ email: 'revalidating@example.com' }).expect(201);
    await client.get('/api/refresh').set('If-None-Match', '*').expect(200);
  });

  it('interface 4.3: needs no access cookie', async () => {
    const { client } = await newAccount();
    await client.forgetCookie('accessToken').get('/api/refresh').expect(200);
    await client.setCookie('accessToken', 'rubbish').get('/api/refresh').expect(200);
  });

  it('interface 4.3 rule 2: user data is read from the token', async () => {
    const { client, id } = await newAccount();
    await service.database.pool.query("UPDATE users SET fullname = 'Behind its back' WHERE id = $1", [id]);
    const response = await client.get('/api/refresh').expect(200);
    expect(response.body).toMatchObject({ data: { user: { fullname: 'Ayu Lestari' } } });
  });

  it('decisions, Accounts: what is stored is the SHA-256 digest of the refresh token, not the token', async () => {
    const { client, id } = await newAccount();
    const token = client.cookie('refreshToken');
    expect(await storedDigest(id)).toEqual(createHash('sha256').update(token).digest());
    const { rows } = await service.database.pool.query('SELECT u::text FROM users u');
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('interface 5 rule 1: many refreshes at once all succeed', async () => {
    const { client } = await newAccount();
    const token = client.cookie('refreshToken');
    const responses = await Promise.all(Array.from({ length: 12 }, () => refreshWith(token)));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
  });
});

describe('a refresh that is refused', () => {
  it('interface 4.3 rule 4: without the cookie: 401', async () => {
    expectFailure(await service.client().get('/api/refresh'), 401, MESSAGES.missingRefreshToken);
    expectFailure(await refreshWith(''), 401, MESSAGES.missingRefreshToken);
  });

  it('interface 5: an access cookie alone, even with the refresh token in it, is no refresh cookie', async () => {
    const { client } = await newAccount();
    const token = client.cookie('refreshToken');
    const response = await service.client().setCookie('accessToken', token).get('/api/refresh');
    expectFailure(response, 401, MESSAGES.missingRefreshToken);
  });

  it.each([
    ['rubbish', 'rubbish'],
    ['three empty parts', '..'],
    ['no JSON in it', `${Buffer.from('no json').toString('base64url')}.e30.x`],
    ['a JSON cookie', 'j:{"a":1}'],
    ['6 KB of rubbish', 'x'.repeat(6000)],
  ])('interface 4.3 rule 5: a token that is %s: 401', async (_what, token) => {
    expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
  });

  it('interface 4.3 rule 1: an expired token: 401, though it is the stored one', async () => {
    const { client, id, email } = await newAccount();
    const { jti } = claimsOf(client.cookie('refreshToken'));
    const token = expiredToken({ tokenId: id, email, jti }, { secret: REFRESH_SECRET });
    await service.database.pool.query('UPDATE users SET refresh_token_digest = sha256($2) WHERE id = $1', [
      id,
      Buffer.from(token),
    ]);
    expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
  });

  it('interface 4.3 rule 1: a token of another key, of another algorithm or unsigned: 401, though it is the stored one', async () => {
    const { client, id, email } = await newAccount();
    const { jti } = claimsOf(client.cookie('refreshToken'));
    const claims = goodClaims({ tokenId: id, email, jti });
    for (const forgery of [
      { secret: 'another key, which is long enough for anything' },
      { secret: ACCESS_SECRET },
      { secret: '' },
      { secret: REFRESH_SECRET, algorithm: 'HS512' },
      { algorithm: 'none' },
      { algorithm: 'None', secret: REFRESH_SECRET },
    ]) {
      const token = signToken(claims, forgery);
      await service.database.pool.query('UPDATE users SET refresh_token_digest = sha256($2) WHERE id = $1', [
        id,
        Buffer.from(token),
      ]);
      expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
    }
    const good = signToken(claims, { secret: REFRESH_SECRET });
    await service.database.pool.query('UPDATE users SET refresh_token_digest = sha256($2) WHERE id = $1', [
      id,
      Buffer.from(good),
    ]);
    expect((await refreshWith(good)).status).toBe(200);
  });

  it('decisions, Accounts: an access token is no refresh token', async () => {
    const { client } = await newAccount();
    expectFailure(await refreshWith(client.cookie('accessToken')), 401, MESSAGES.refreshToken);
  });

  it('interface 4.3 rule 3: a well-signed token that is not the stored one: 401', async () => {
    const { client, id, email } = await newAccount();
    const other = await newAccount();
    const forged = signToken(goodClaims({ tokenId: id, email }), { secret: REFRESH_SECRET });
    expectFailure(await refreshWith(forged), 401, MESSAGES.refreshToken);
    // Somebody else's token with this user's id in place of its own.
    const swapped = signToken(
      { ...claimsOf(other.client.cookie('refreshToken')), tokenId: id },
      { secret: REFRESH_SECRET },
    );
    expectFailure(await refreshWith(swapped), 401, MESSAGES.refreshToken);
    await client.get('/api/refresh').expect(200);
  });

  it('the stored token of a session that is not the live one: 401', async () => {
    const { client, id } = await newAccount();
    await service.database.pool.query('UPDATE users SET session_id = gen_random_uuid() WHERE id = $1', [id]);
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.refreshToken);
  });

  it('interface 4.3 rule 3: a token whose last character was changed: 401', async () => {
    const { client } = await newAccount();
    const token = client.cookie('refreshToken');
    const changed = token.slice(0, -2) + (token.at(-2) === 'A' ? 'B' : 'A') + (token.at(-1) ?? '');
    expectFailure(await refreshWith(changed), 401, MESSAGES.refreshToken);
  });

  it('interface 4.3 rule 5: a token that is no longer stored, or whose user is gone: 401', async () => {
    const { client, id } = await newAccount();
    const token = client.cookie('refreshToken');
    await service.database.pool.query('UPDATE users SET refresh_token_digest = NULL WHERE id = $1', [id]);
    expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
    await service.database.pool.query('DELETE FROM users WHERE id = $1', [id]);
    expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
  });

  it.each([
    ['no id', { tokenId: undefined }],
    ['an id as text', { tokenId: '1' }],
    ['an id with a fraction', { tokenId: 1.5 }],
    ['an id beyond every integer', { tokenId: 2 ** 40 }],
    ['a name that is a list', { fullname: ['Ayu'] }],
    ['no e-mail', { email: null }],
    ['an unknown role', { role: 'OWNER' }],
  ])('interface 5: well-signed claims with %s: 401', async (_what, claims) => {
    const token = signToken(goodClaims(claims), { secret: REFRESH_SECRET });
    expectFailure(await refreshWith(token), 401, MESSAGES.refreshToken);
  });

  it('decisions, Accounts: sets no cookie and may not be stored by a shared cache', async () => {
    for (const response of [await service.client().get('/api/refresh'), await refreshWith('rubbish')]) {
      expect(cookiesOf(response)).toEqual([]);
      expect(response.headers['cache-control']).toBe('private, no-cache');
    }
  });
});

describe('two logins of one account', () => {
  it('decisions, Accounts: in one second give different tokens, and only the later refreshes', async () => {
    const { email, password } = await newAccount();
    const [earlier, later] = [service.client(), service.client()];
    let sameSecond = false;
    // The clock may tick between the two; the second try falls into the beginning of a second.
    for (let attempt = 0; attempt < 5 && !sameSecond; attempt += 1) {
      await earlier.post('/api/login').send({ email, password }).expect(200);
      await later.post('/api/login').send({ email, password }).expect(200);
      sameSecond =
        claimsOf(earlier.cookie('refreshToken')).iat === claimsOf(later.cookie('refreshToken')).iat;
    }
    expect(sameSecond).toBe(true);
    expect(later.cookie('refreshToken')).not.toBe(earlier.cookie('refreshToken'));
    expect(later.cookie('accessToken')).not.toBe(earlier.cookie('accessToken'));
    expectFailure(await earlier.get('/api/refresh'), 401, MESSAGES.refreshToken);
    await later.get('/api/refresh').expect(200);
    // The earlier access token lives on until it expires.
    await earlier.get('/api/users').expect(200);
  });

  it('interface 5 rule 1: at once leave exactly one refresh token that is good', async () => {
    const { email, password } = await newAccount();
    const clients = Array.from({ length: 8 }, () => service.client());
    await Promise.all(
      clients.map((client) => client.post('/api/login').send({ email, password }).expect(200)),
    );
    const responses = await Promise.all(clients.map((client) => client.get('/api/refresh')));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const response of responses.filter(({ status }) => status !== 200))
      expectFailure(response, 401, MESSAGES.refreshToken);
  });

  it('interface 4.3 rule 3: a login of one user does not end the session of another', async () => {
    const [first, second] = [await newAccount(), await newAccount()];
    await second.client
      .post('/api/login')
      .send({ email: second.email, password: second.password })
      .expect(200);
    await first.client.get('/api/refresh').expect(200);
  });
});
