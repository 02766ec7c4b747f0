import request, { type Response } from 'supertest';
import { codeTo, newAccount, PASSWORD, signIn, SUBJECTS, type TestAccount } from './support/accounts.js';
import { built } from './support/built.js';
import { cookiesOf } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { startService, type TestService } from './support/service.js';
import { claimsOf } from './support/tokens.js';

const NEW_PASSWORD = 'nastar dan kastengel';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

async function changeRole(email: string, action: 'grant' | 'revoke'): Promise<void> {
  const { AdminAccountsService } = await built('src/auth/admin-accounts.service.js');
  expect(await service.app.get(AdminAccountsService)[action](email)).toBe('changed');
}

/** Everything that ends the session of an account. */
const ENDS: readonly (readonly [what: string, end: (account: TestAccount) => Promise<unknown>])[] = [
  [
    'a change of password',
    ({ client }) =>
      client
        .put('/api/users/password')
        .send({ currentPassword: PASSWORD, password: NEW_PASSWORD, passwordConfirmation: NEW_PASSWORD })
        .expect(204),
  ],
  [
    'a reset of the password',
    async ({ email }) => {
      await service.client().post('/api/password/forgot').send({ email }).expect(204);
      const otp = await codeTo(service, email, SUBJECTS.reset);
      const body = { email, otp, password: NEW_PASSWORD, passwordConfirmation: NEW_PASSWORD };
      await service.client().post('/api/password/reset').send(body).expect(204);
    },
  ],
  [
    'a change of e-mail',
    ({ client, email }) =>
      client
        .patch('/api/users')
        .send({ email: `new-${email}`, password: PASSWORD })
        .expect(200),
  ],
  ['a change of name', ({ client }) => client.patch('/api/users').send({ fullname: 'Ayu L.' }).expect(200)],
  ['a new role', ({ email }) => changeRole(email, 'grant')],
  ['a logout', ({ client }) => client.clone().post('/api/logout').expect(204)],
  ['a later login', ({ email }) => signIn(service, email)],
];

describe('tokens of an ended session', () => {
  it.each(ENDS)('after %s they read until they expire, and change and renew nothing', async (_what, end) => {
    const account = await newAccount(service);
    const old = account.client.clone();
    await end(account);

    await old.get('/api/users').expect(200);
    const refreshed = await old.get('/api/refresh');
    expectFailure(refreshed, 401, MESSAGES.refreshToken);
    expect(cookiesOf(refreshed)).toEqual([]);
    for (const change of [{ fullname: 'Thief' }, { fullname: 'Ayu Lestari' }, {}])
      expectFailure(await old.patch('/api/users').send(change), 401, MESSAGES.missingAccessToken);
    const guess = { currentPassword: 'a guess', password: 'x', passwordConfirmation: 'x' };
    for (const answer of [
      await old.patch('/api/users').send({ email: 'thief@example.com', password: 'a guess' }),
      await old.put('/api/users/password').send(guess),
    ]) {
      expectFailure(answer, 400, MESSAGES.credentials);
      expect(cookiesOf(answer)).toEqual([]);
    }
  });

  it('they start a new session together with the current password', async () => {
    const { client, email } = await newAccount(service);
    const owner = await signIn(service, email);
    await client.patch('/api/users').send({ fullname: 'Ayu W.', password: PASSWORD }).expect(200);
    await client.get('/api/refresh').expect(200);
    expectFailure(await owner.get('/api/refresh'), 401, MESSAGES.refreshToken);
  });

  it('an access token of a former administrator keeps its role for its 10 minutes and no longer', async () => {
    const { email } = await newAccount(service);
    await changeRole(email, 'grant');
    const admin = await signIn(service, email);
    await changeRole(email, 'revoke');
    const { iat, exp } = claimsOf(admin.cookie('accessToken'));
    expect((exp as number) - (iat as number)).toBe(600);
    await admin.delete('/api/products/999').expect(404);
    expectFailure(await admin.get('/api/refresh'), 401, MESSAGES.refreshToken);
    expectFailure(await (await signIn(service, email)).delete('/api/products/999'), 403, MESSAGES.adminOnly);
  });
});

describe('a stolen access token', () => {
  it('eight callers who flood PATCH with it while the owner changes the password keep no session', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { client: owner } = await newAccount(service);
      const thieves = Array.from({ length: 8 }, () => owner.clone());
      let isChanged = false;
      const floods = thieves.map(async (thief, index) => {
        const stolen = thief.clone();
        for (let call = 0; !isChanged || call < 3; call += 1) {
          // Each call is made with the stolen token and with the cookies that the thief has got since.
          for (const client of [stolen.clone(), thief])
            await client.patch('/api/users').send({ fullname: `Thief ${index}.${call}` });
        }
      });
      const changed = await owner
        .put('/api/users/password')
        .send({ currentPassword: PASSWORD, password: NEW_PASSWORD, passwordConfirmation: NEW_PASSWORD });
      isChanged = true;
      await Promise.all(floods);

      expect(changed.status).toBe(204);
      for (const thief of thieves) expectFailure(await thief.get('/api/refresh'), 401, MESSAGES.refreshToken);
      await owner.get('/api/refresh').expect(200);
    }
  });
});

describe('odd cookies', () => {
  let refresh: string;

  beforeAll(async () => {
    const { client } = await newAccount(service);
    refresh = client.cookie('refreshToken');
  });

  const send = (path: string, cookie: string): Promise<Response> =>
    request(service.url)
      .get(path)
      .set('Cookie', cookie)
      .then((response) => response);

  it('of two refresh cookies the first counts, which a browser sends for the longer path', async () => {
    expect((await send('/api/refresh', `refreshToken=${refresh}; refreshToken=tossed`)).status).toBe(200);
    expectFailure(
      await send('/api/refresh', `refreshToken=tossed; refreshToken=${refresh}`),
      401,
      MESSAGES.refreshToken,
    );
  });
});
