import { randomInt } from 'node:crypto';
import type { Response } from 'supertest';
import {
  ageOtps,
  codeTo,
  mailsTo,
  newAccount,
  PASSWORD,
  statusesOf,
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

afterAll(() => service.stop());

async function withCode(): Promise<TestAccount & { readonly code: string }> {
  const account = await newAccount(service);
  return { ...account, code: await codeTo(service, account.email) };
}

async function verify({ client }: TestAccount, otp: unknown): Promise<Response> {
  return client.clone().post('/api/otp/verify').send({ otp });
}

async function expectRefused(account: TestAccount, otp: unknown): Promise<void> {
  expectFailure(await verify(account, otp), 400, MESSAGES.otp);
}

async function isVerified({ id }: TestAccount): Promise<boolean> {
  return (await storedUser(service, id)).email_verified_at !== null;
}

describe('a verification', () => {
  it('with the right code answers data.user with emailVerified, once, and the session goes on', async () => {
    const account = await withCode();
    expect(await isVerified(account)).toBe(false);
    const response = await verify(account, ` ${account.code}\n`);
    const { id, email } = account;
    const user = { id, fullname: 'Ayu Lestari', email, role: 'USER', emailVerified: true };
    expect(response.body).toEqual({ status: 'success', data: { user } });
    expect(response.status).toBe(200);
    expect(await isVerified(account)).toBe(true);
    expect(response.headers).not.toHaveProperty('set-cookie');
    await account.client.get('/api/refresh').expect(200);
    await expectRefused(account, account.code);
    expect(await storedOtp(service, id)).toMatchObject({ digest: null });
  });

  it('takes a code as a number too, which cannot hold leading zeros', async () => {
    const account = await withCode();
    await expectRefused(account, Number(account.code) + 1_000_000);
    expect((await verify(account, Number(account.code))).status).toBe(200);
  });

  it('of 10 right codes at once exactly one is taken', async () => {
    const account = await withCode();
    const responses = await Promise.all(Array.from({ length: 10 }, () => verify(account, account.code)));
    expect(statusesOf(responses)).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
  });

  it('a code is good for 10 minutes', async () => {
    const account = await withCode();
    const { seconds } = (await storedOtp(service, account.id)) ?? {};
    expect(seconds).toBeGreaterThan(9.5 * MINUTE);
    expect(seconds).toBeLessThanOrEqual(10 * MINUTE);
    await ageOtps(service, account.id, 10 * MINUTE);
    await expectRefused(account, account.code);
    await ageOtps(service, account.id, -20);
    expect((await verify(account, account.code)).status).toBe(200);
  });

  it('the code of one user does not work for another', async () => {
    const [owner, other] = [await withCode(), await withCode()];
    await expectRefused(other, owner.code === other.code ? '000000' : owner.code);
    expect((await storedOtp(service, owner.id))?.tries).toBe(0);
  });

  it('a missing code is a validation error and costs no try', async () => {
    const account = await withCode();
    for (const otp of [undefined, null, '', '  ', true, ['123456']])
      expectFailure(await verify(account, otp), 400, MESSAGES.validation, { otp: 'otp is required' });
    expect((await storedOtp(service, account.id))?.tries).toBe(0);
  });

  it('anything else is a wrong code', async () => {
    const account = await withCode();
    for (const otp of ['12345', '１２３４５６', "'; --", -1, 1.5]) await expectRefused(account, otp);
  });
});

describe('the tries of a code', () => {
  it('after 5 wrong tries the right code is refused', async () => {
    const account = await withCode();
    for (const [index, wrong] of wrongCodes(account.code, 5).entries()) {
      await expectRefused(account, wrong);
      expect((await storedOtp(service, account.id))?.tries).toBe(index + 1);
    }
    await expectRefused(account, account.code);
    expect(await isVerified(account)).toBe(false);
  });

  it('of 50 guesses at once, the right one among them, at most 5 are evaluated', async () => {
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
});

describe('a new code', () => {
  it('is asked for with 204 and replaces the old one, with tries and time of its own', async () => {
    const account = await withCode();
    for (const wrong of wrongCodes(account.code, 5)) await expectRefused(account, wrong);
    await ageOtps(service, account.id, MINUTE);
    const response = await account.client.post('/api/otp').expect(204);
    expect(response.text).toBe('');
    const code = await codeTo(service, account.email, SUBJECTS.verification, 2);
    expect((await storedOtp(service, account.id))?.seconds).toBeGreaterThan(9.5 * MINUTE);
    // Two codes may be equal by chance.
    if (code !== account.code) await expectRefused(account, account.code);
    expect((await verify(account, code)).status).toBe(200);
  });

  it('within a minute a further call is answered 204 and sends nothing', async () => {
    const account = await withCode();
    await ageOtps(service, account.id, MINUTE - 5);
    await account.client.post('/api/otp').expect(204);
    await untilMailed(service);
    expect(await mailsTo(service, account.email)).toHaveLength(1);
    expect((await verify(account, account.code)).status).toBe(200);
  });
});

describe('verification and password reset', () => {
  it('have codes, tries and a one-a-minute limit of their own', async () => {
    const account = await withCode();
    const { email } = account;
    await service.client().post('/api/password/forgot').send({ email }).expect(204);
    const otp = await codeTo(service, email, SUBJECTS.reset);
    const reset = (code: string) =>
      service
        .client()
        .post('/api/password/reset')
        .send({ email, otp: code, password: PASSWORD, passwordConfirmation: PASSWORD });
    if (otp !== account.code) {
      await expectRefused(account, otp);
      expectFailure(await reset(account.code), 400, MESSAGES.otp);
    }
    for (const wrong of wrongCodes(account.code, 5)) await verify(account, wrong);
    expect((await reset(otp)).status).toBe(204);

    await service.database.pool.query(
      `UPDATE one_time_passwords SET requested_at = now() - interval '61 seconds'
       WHERE user_id = $1 AND purpose = 'verify_email'`,
      [account.id],
    );
    await account.client.post('/api/otp').expect(204);
    await codeTo(service, email, SUBJECTS.verification, 2);
  });
});
