import { randomInt } from 'node:crypto';
import type { Response } from 'supertest';
import {
  ageOtps,
  codeTo,
  mailsTo,
  newAccount,
  PASSWORD,
  storedOtp,
  storedUser,
  SUBJECTS,
  type TestAccount,
  untilMailed,
  wrongCodes,
} from './support/accounts.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { startService, type TestService } from './support/service.js';

const MINUTE = 60;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

async function withCode(): Promise<TestAccount & { readonly code: string }> {
  const account = await newAccount(service);
  return { ...account, code: await codeTo(service, account.email) };
}

async function verify({ client }: TestAccount, otp: string): Promise<Response> {
  return client.clone().post('/api/otp/verify').send({ otp });
}

async function expectRefused(account: TestAccount, otp: string): Promise<void> {
  expectFailure(await verify(account, otp), 400, MESSAGES.otp);
}

async function isVerified({ id }: TestAccount): Promise<boolean> {
  return (await storedUser(service, id)).email_verified_at !== null;
}

function statusesOf(responses: readonly Response[]): number[] {
  return responses.map(({ status }) => status).sort((a, b) => a - b);
}

describe('a verification', () => {
  it('decisions, Accounts: the right code answers data.user with emailVerified, and that is recorded', async () => {
    const account = await withCode();
    expect(account.code).toMatch(/^\d{6}$/);
    expect(await isVerified(account)).toBe(false);
    const response = await verify(account, account.code);
    expect({ status: response.status, body: response.body as unknown }).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          user: {
            id: account.id,
            fullname: 'Ayu Lestari',
            email: account.email,
            role: 'USER',
            emailVerified: true,
          },
        },
      },
    });
    expect(await isVerified(account)).toBe(true);
  });

  it('decisions, Accounts: ends no session and sets no cookie', async () => {
    const account = await withCode();
    const response = await verify(account, account.code);
    expect(response.status).toBe(200);
    expect(response.headers).not.toHaveProperty('set-cookie');
    await account.client.get('/api/refresh').expect(200);
  });

  it('decisions, Answers: a code is taken with spaces around it', async () => {
    const account = await withCode();
    expect((await verify(account, ` ${account.code}\n`)).status).toBe(200);
  });

  it('a code is taken as a number too, which cannot hold leading zeros', async () => {
    const account = await withCode();
    const response = await account.client.post('/api/otp/verify').send({ otp: Number(account.code) });
    expect(response.status).toBe(200);
    const other = await withCode();
    const tooLong = await other.client.post('/api/otp/verify').send({ otp: Number(other.code) + 1_000_000 });
    expectFailure(tooLong, 400, MESSAGES.otp);
  });

  it('decisions, Accounts: a code works once', async () => {
    const account = await withCode();
    expect((await verify(account, account.code)).status).toBe(200);
    await expectRefused(account, account.code);
    expect(await storedOtp(service, account.id)).toMatchObject({ digest: null });
  });

  it('decisions, Accounts: of 10 right codes at once exactly one is taken', async () => {
    const account = await withCode();
    const responses = await Promise.all(Array.from({ length: 10 }, () => verify(account, account.code)));
    expect(statusesOf(responses)).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    for (const response of responses.filter(({ status }) => status === 400))
      expectFailure(response, 400, MESSAGES.otp);
    expect((await storedOtp(service, account.id))?.tries).toBeLessThanOrEqual(5);
  });

  it('decisions, Accounts: a code is good for 10 minutes', async () => {
    const account = await withCode();
    const { seconds } = (await storedOtp(service, account.id)) ?? {};
    expect(seconds).toBeGreaterThan(9.5 * MINUTE);
    expect(seconds).toBeLessThanOrEqual(10 * MINUTE);
    await ageOtps(service, account.id, 10 * MINUTE);
    await expectRefused(account, account.code);
    expect(await isVerified(account)).toBe(false);
    await ageOtps(service, account.id, -20);
    expect((await verify(account, account.code)).status).toBe(200);
  });

  it('decisions, Accounts: the code of one user does not work for another', async () => {
    const [owner, other] = [await withCode(), await withCode()];
    await expectRefused(other, owner.code === other.code ? '000000' : owner.code);
    expect(await isVerified(other)).toBe(false);
    expect((await storedOtp(service, owner.id))?.tries).toBe(0);
  });

  it.each([
    ['absent', {}],
    ['null', { otp: null }],
    ['empty', { otp: '' }],
    ['of spaces', { otp: '  ' }],
    ['a list', { otp: ['123456'] }],
  ])('decisions, Answers: an otp that is %s is a validation error and costs no try', async (_what, body) => {
    const account = await withCode();
    const response = await account.client.post('/api/otp/verify').send(body);
    expectFailure(response, 400, MESSAGES.validation, { otp: 'otp is required' });
    expect((await storedOtp(service, account.id))?.tries).toBe(0);
  });

  it.each(['12345', '1234567', 'abcdef', '１２３４５６', '-1', "'; --", '%'])(
    'decisions, Accounts: %s is a wrong code',
    async (otp) => {
      await expectRefused(await withCode(), otp);
    },
  );

  it('decisions, Accounts: asks for the cookie before anything else', async () => {
    const otp = { otp: '123456' };
    const nobody = service.client();
    expectFailure(await nobody.post('/api/otp/verify').send(otp), 401, MESSAGES.missingAccessToken);
    expectFailure(await nobody.post('/api/otp'), 401, MESSAGES.missingAccessToken);
    nobody.setCookie('accessToken', 'rubbish');
    expectFailure(await nobody.post('/api/otp/verify').send(otp), 400, MESSAGES.malformedAccessToken);
    expectFailure(await nobody.post('/api/otp'), 400, MESSAGES.malformedAccessToken);
  });
});

describe('the tries of a code', () => {
  it('decisions, Accounts: after 5 wrong tries the right code is refused', async () => {
    const account = await withCode();
    for (const [index, wrong] of wrongCodes(account.code, 5).entries()) {
      await expectRefused(account, wrong);
      expect((await storedOtp(service, account.id))?.tries).toBe(index + 1);
    }
    await expectRefused(account, account.code);
    expect(await storedOtp(service, account.id)).toMatchObject({ tries: 5 });
    expect(await isVerified(account)).toBe(false);
  });

  it('decisions, Accounts: the right code as the fifth try is taken', async () => {
    const account = await withCode();
    for (const wrong of wrongCodes(account.code, 4)) await expectRefused(account, wrong);
    expect((await verify(account, account.code)).status).toBe(200);
  });

  it('decisions, Accounts: of 50 wrong guesses at once 5 are evaluated, and the right code comes too late', async () => {
    const account = await withCode();
    const responses = await Promise.all(wrongCodes(account.code, 50).map((otp) => verify(account, otp)));
    for (const response of responses) expectFailure(response, 400, MESSAGES.otp);
    expect((await storedOtp(service, account.id))?.tries).toBe(5);
    await expectRefused(account, account.code);
  });

  it('decisions, Accounts: of 50 guesses at once, the right one among them, at most 5 are evaluated', async () => {
    for (let round = 0; round < 4; round += 1) {
      const account = await withCode();
      const guesses = wrongCodes(account.code, 49);
      guesses.splice(randomInt(50), 0, account.code);
      const responses = await Promise.all(guesses.map((otp) => verify(account, otp)));
      const taken = responses.filter(({ status }) => status === 200);
      const stored = await storedOtp(service, account.id);
      expect(stored?.tries).toBeLessThanOrEqual(5);
      // Either the right one was among the evaluated ones and the code is used up, or all 5 tries were wrong.
      expect([taken.length, stored?.digest === null, await isVerified(account)]).toEqual(
        taken.length === 1 ? [1, true, true] : [0, false, false],
      );
      if (taken.length === 0) expect(stored?.tries).toBe(5);
    }
  });

  it('decisions, Accounts: a request that fails has spent its try nevertheless, and the code stays good', async () => {
    const account = await withCode();
    await service.database.pool.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no verification today'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE OF email_verified_at ON users
        FOR EACH ROW EXECUTE FUNCTION refuse();
    `);
    try {
      expectFailure(await verify(account, account.code), 500, MESSAGES.unexpected);
    } finally {
      await service.database.pool.query('DROP FUNCTION refuse CASCADE');
    }
    expect((await storedOtp(service, account.id))?.tries).toBe(1);
    expect((await verify(account, account.code)).status).toBe(200);
  });
});

describe('a new code', () => {
  it('decisions, Accounts: is asked for with 204 and replaces the old one, with tries and time of its own', async () => {
    const account = await withCode();
    for (const wrong of wrongCodes(account.code, 5)) await expectRefused(account, wrong);
    await ageOtps(service, account.id, MINUTE);
    const response = await account.client.post('/api/otp').expect(204);
    expect(response.text).toBe('');
    const code = await codeTo(service, account.email, SUBJECTS.verification, 2);
    expect(await storedOtp(service, account.id)).toMatchObject({ tries: 0 });
    expect((await storedOtp(service, account.id))?.seconds).toBeGreaterThan(9.5 * MINUTE);
    // Two draws of one code are possible, and no reason for a test to fail.
    if (code !== account.code) await expectRefused(account, account.code);
    expect((await verify(account, code)).status).toBe(200);
  });

  it('decisions, Accounts: within a minute a further call is answered 204 and sends nothing', async () => {
    const account = await withCode();
    await account.client.post('/api/otp').expect(204);
    await ageOtps(service, account.id, MINUTE - 5);
    await account.client.post('/api/otp').expect(204);
    await untilMailed(service);
    expect(await mailsTo(service, account.email)).toHaveLength(1);
    expect((await verify(account, account.code)).status).toBe(200);
  });

  it('decisions, Accounts: of 20 calls at once one sends a mail', async () => {
    const account = await withCode();
    await ageOtps(service, account.id, MINUTE);
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => account.client.clone().post('/api/otp')),
    );
    expect(statusesOf(responses)).toEqual(Array.from({ length: 20 }, () => 204));
    await untilMailed(service);
    expect(await mailsTo(service, account.email)).toHaveLength(2);
  });

  it('decisions, Accounts: is also for an account that never had one', async () => {
    const admin = await service.admin();
    await admin.post('/api/otp').expect(204);
    const code = await codeTo(service, 'admin@bakery.example');
    const response = await admin.post('/api/otp/verify').send({ otp: code }).expect(200);
    expect(response.body).toMatchObject({ data: { user: { role: 'ADMIN', emailVerified: true } } });
  });

  it('decisions, Accounts: for an account that is gone is a 401 and queues nothing', async () => {
    const account = await withCode();
    await service.database.pool.query('DELETE FROM users WHERE id = $1', [account.id]);
    expectFailure(await account.client.post('/api/otp'), 401, MESSAGES.missingAccessToken);
    await expectRefused(account, account.code);
  });
});

describe('verification and password reset', () => {
  async function withBothCodes(): Promise<TestAccount & { readonly code: string; readonly reset: string }> {
    for (;;) {
      const account = await withCode();
      await service.client().post('/api/password/forgot').send({ email: account.email }).expect(204);
      const reset = await codeTo(service, account.email, SUBJECTS.reset);
      if (reset !== account.code) return { ...account, reset };
    }
  }

  async function reset({ email }: TestAccount, otp: string): Promise<Response> {
    const body = { email, otp, password: PASSWORD, passwordConfirmation: PASSWORD };
    return service.client().post('/api/password/reset').send(body);
  }

  it('decisions, Accounts: have codes of their own: neither does what the other is for', async () => {
    const account = await withBothCodes();
    await expectRefused(account, account.reset);
    expectFailure(await reset(account, account.code), 400, MESSAGES.otp);
    expect(await isVerified(account)).toBe(false);
    expect((await verify(account, account.code)).status).toBe(200);
    expect((await reset(account, account.reset)).status).toBe(204);
  });

  it('decisions, Accounts: have tries of their own', async () => {
    const account = await withBothCodes();
    for (const wrong of wrongCodes(account.code, 5)) await expectRefused(account, wrong);
    expect((await storedOtp(service, account.id, 'reset_password'))?.tries).toBe(0);
    expect((await reset(account, account.reset)).status).toBe(204);
  });

  it('decisions, Accounts: have a one-a-minute limit of their own', async () => {
    // The reset code was mailed within a minute of the registration's; and the other way round:
    const account = await withBothCodes();
    await service.database.pool.query(
      `UPDATE one_time_passwords SET requested_at = now() - interval '61 seconds'
       WHERE user_id = $1 AND purpose = 'verify_email'`,
      [account.id],
    );
    await account.client.post('/api/otp').expect(204);
    await codeTo(service, account.email, SUBJECTS.verification, 2);
  });
});

it('decisions, Accounts: codes stand in no table, no job and no log line', async () => {
  const account = await withCode();
  await account.client.post('/api/otp/verify').send({ otp: account.code }).expect(200);
  const { rows } = await service.database.pool.query<{ row: string }>(
    'SELECT o::text AS row FROM one_time_passwords o UNION ALL SELECT j::text FROM graphile_worker._private_jobs j',
  );
  const code = new RegExp(`(?<!\\w)${account.code}(?!\\w)`);
  expect(rows.length).toBeGreaterThan(0);
  for (const { row } of rows) expect(row.replaceAll(/\d\d:\d\d:\d\d\.\d+/g, '')).not.toMatch(code);
  expect(service.log.length).toBeGreaterThan(0);
  for (const { msg, ...line } of service.log)
    expect(JSON.stringify([msg, { ...line, time: '', durationMs: 0 }])).not.toMatch(code);
});
