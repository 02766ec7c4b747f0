import request, { type Response } from 'supertest';
import { codeTo, newAccount, PASSWORD, signIn, SUBJECTS, type TestAccount } from './support/accounts.js';
import { built } from './support/built.js';
import { type Client, cookiesOf } from './support/client.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { sendRaw } from './support/raw-http.js';
import { startService, type TestService } from './support/service.js';
import { claimsOf } from './support/tokens.js';

const NEW_PASSWORD = 'nastar dan kastengel';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

/** What ends the sessions of an account, each by its own route. */
const CHANGES: readonly (readonly [what: string, change: (account: TestAccount) => Promise<unknown>])[] = [
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
];

async function changeRole(email: string, action: 'grant' | 'revoke'): Promise<void> {
  const { AdminAccountsService } = await built('src/auth/admin-accounts.service.js');
  expect(await service.app.get(AdminAccountsService)[action](email)).toBe('changed');
}

/** Makes the tokens of a client ten seconds old: `iat` has whole seconds. */
async function afterAWhile({ id }: TestAccount): Promise<void> {
  await service.database.pool.query(
    `UPDATE users SET sessions_ended_at = sessions_ended_at + interval '10 seconds' WHERE id = $1`,
    [id],
  );
}

describe('cookies of before', () => {
  it.each(CHANGES)(
    'issue 4, Hostile input: after %s the refresh cookie is good for nothing',
    async (_what, change) => {
      const account = await newAccount(service);
      const old = account.client.clone();
      await change(account);
      const response = await old.get('/api/refresh');
      expectFailure(response, 401, MESSAGES.refreshToken);
      expect(cookiesOf(response)).toEqual([]);
    },
  );

  it.each(CHANGES)(
    'issue 4, Hostile input: after %s the access cookie reads until it expires, and begins no session and proves nothing',
    async (_what, change) => {
      const account = await newAccount(service);
      const old = account.client.clone();
      await change(account);
      await afterAWhile(account);
      await old.get('/api/users').expect(200);
      expectFailure(
        await old.patch('/api/users').send({ fullname: 'Thief' }),
        401,
        MESSAGES.missingAccessToken,
      );
      for (const answer of [
        await old.patch('/api/users').send({ email: 'thief@example.com', password: 'a guess' }),
        await old
          .put('/api/users/password')
          .send({ currentPassword: 'a guess', password: 'x', passwordConfirmation: 'x' }),
      ]) {
        expectFailure(answer, 400, MESSAGES.credentials);
        expect(cookiesOf(answer)).toEqual([]);
      }
    },
  );

  it('issue 4, Hostile input: an administrator who is one no longer keeps the access cookie for its 10 minutes and no refresh', async () => {
    const account = await newAccount(service);
    await changeRole(account.email, 'grant');
    const admin = await signIn(service, account.email);
    await changeRole(account.email, 'revoke');
    const { iat, exp } = claimsOf(admin.cookie('accessToken'));
    expect((exp as number) - (iat as number)).toBe(600);
    await admin.delete('/api/products/999').expect(404);
    expectFailure(await admin.get('/api/refresh'), 401, MESSAGES.refreshToken);
    const again = await signIn(service, account.email);
    expectFailure(await again.delete('/api/products/999'), 403, MESSAGES.adminOnly);
  });
});

describe('cookies that somebody planted', () => {
  async function both(): Promise<readonly [attacker: Client, victim: TestAccount]> {
    const { client } = await newAccount(service, 'Mallory');
    return [client, await newAccount(service, 'Ayu Lestari')];
  }

  it('issue 4, Hostile input: a login replaces them on their own paths, and those planted open nothing of the victim', async () => {
    const [attacker, victim] = await both();
    const browser = attacker.clone();
    const response = await browser
      .post('/api/login')
      .send({ email: victim.email, password: PASSWORD })
      .expect(200);
    expect(cookiesOf(response).map(({ name, attributes }) => [name, attributes.path])).toEqual([
      ['accessToken', '/'],
      ['refreshToken', '/api/refresh'],
    ]);
    for (const name of ['accessToken', 'refreshToken']) {
      expect(browser.cookie(name)).not.toBe(attacker.cookie(name));
      expect(claimsOf(browser.cookie(name)).tokenId).toBe(victim.id);
    }
    expect((await attacker.get('/api/refresh').expect(200)).text).toContain('Mallory');
    expect((await attacker.get('/api/users').expect(200)).text).toContain('Mallory');
  });

  it('issue 4, Hostile input: tokens made up before a login are not taken up by it', async () => {
    const { email } = await newAccount(service);
    const browser = service.client().setCookie('accessToken', 'planted').setCookie('refreshToken', 'planted');
    await browser.post('/api/login').send({ email, password: PASSWORD }).expect(200);
    expectFailure(
      await request(service.url).get('/api/refresh').set('Cookie', 'refreshToken=planted'),
      401,
      MESSAGES.refreshToken,
    );
    await browser.get('/api/refresh').expect(200);
  });

  it("issue 4, Hostile input: another's refresh token gives another's session, never one of the victim", async () => {
    const [attacker, victim] = await both();
    victim.client.setCookie('refreshToken', attacker.cookie('refreshToken'), '/api/refresh');
    const { body } = (await victim.client.get('/api/refresh').expect(200)) as { body: unknown };
    expect(body).toMatchObject({ data: { user: { fullname: 'Mallory' } } });
    expect(claimsOf(victim.client.cookie('accessToken')).fullname).toBe('Mallory');
  });
});

describe('odd cookies', () => {
  let ayu: TestAccount;
  let access: string;
  let refresh: string;

  beforeAll(async () => {
    ayu = await newAccount(service);
    access = ayu.client.cookie('accessToken');
    refresh = ayu.client.cookie('refreshToken');
  });

  const send = (path: string, cookie: string): Promise<Response> =>
    request(service.url)
      .get(path)
      .set('Cookie', cookie)
      .then((response) => response);

  it('issue 4, Hostile input: of two refresh cookies the first counts, which a browser sends for the longer path', async () => {
    expect((await send('/api/refresh', `refreshToken=${refresh}; refreshToken=tossed`)).status).toBe(200);
    expectFailure(
      await send('/api/refresh', `refreshToken=tossed; refreshToken=${refresh}`),
      401,
      MESSAGES.refreshToken,
    );
  });

  it.each([
    ['an empty one before it', (token: string) => `accessToken=; accessToken=${token}`, 401],
    ['one without a value before it', (token: string) => `accessToken; accessToken=${token}`, 200],
    ['another letter case', (token: string) => `ACCESSTOKEN=x; AccessToken=y; accessToken=${token}`, 200],
    ['quotes around it', (token: string) => `accessToken="${token}"`, 200],
    ['a quote that does not end', (token: string) => `accessToken="${token}`, 400],
    ['spaces around it', (token: string) => `  accessToken =  ${token}  ;`, 200],
    ['__proto__ beside it', (token: string) => `__proto__=x; constructor=y; accessToken=${token}`, 200],
    [
      'a JSON __proto__ beside it',
      (token: string) => `__proto__=j:{"accessToken":"x"}; accessToken=${token}`,
      200,
    ],
    ['1,000 others before it', (token: string) => `${'a=b; '.repeat(1_000)}accessToken=${token}`, 200],
    ['a broken escape beside it', (token: string) => `other=%E0%A4%A; accessToken=${token}`, 200],
  ])('issue 4, Hostile input: an access cookie with %s', async (_what, cookie, status) => {
    expect((await send('/api/users', cookie(access))).status).toBe(status);
  });

  it('issue 4, Hostile input: a __proto__ cookie with a token in it is no access cookie', async () => {
    for (const cookie of [`__proto__=j:{"accessToken":"${access}"}`, `__proto__=${access}`])
      expectFailure(await send('/api/users', cookie), 401, MESSAGES.missingAccessToken);
    expect(({} as Record<string, unknown>).accessToken).toBeUndefined();
  });

  it('issue 4, Hostile input: cookies beyond the header limit are 431, and 400 just below it', async () => {
    expectFailure(
      await send('/api/users', `accessToken=${'x'.repeat(15_000)}`),
      400,
      MESSAGES.malformedAccessToken,
    );
    const [answer] = await sendRaw(
      service.url,
      `GET /api/users HTTP/1.1\r\nHost: a\r\nCookie: accessToken=${'x'.repeat(20_000)}\r\n\r\n`,
    );
    expect(answer?.status).toBe(431);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ status: 'fail', errors: { code: 431 } });
  });

  it('issue 4, Hostile input: two Cookie headers are read as one', async () => {
    const answers = await Promise.all(
      [`a=b\r\nCookie: accessToken=${access}`, `accessToken=x\r\nCookie: accessToken=${access}`].map(
        (cookies) =>
          sendRaw(
            service.url,
            `GET /api/users HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: ${cookies}\r\n\r\n`,
          ),
      ),
    );
    expect(answers.map(([answer]) => answer?.status)).toEqual([200, 400]);
  });
});
