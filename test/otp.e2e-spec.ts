import type { Response } from 'supertest';
import {
  registerAccount,
  requestResetCode,
  requestPasswordReset,
  SUBJECTS,
  type TestAccount,
  listWrongCodes,
} from './support/accounts.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { useService } from './support/service.js';
import { inParallel, sortedStatusesOf } from './support/wait.js';

const MINUTE_S = 60;

const service = await useService();

/** Clears the rate limits, because all tests send from the same IP address. */
beforeEach(() => service.clearCounts());

async function newAccountWithCode(): Promise<TestAccount & { readonly code: string }> {
  const account = await registerAccount(service);
  return { ...account, code: await service.waitForCode(account.email) };
}

async function verify({ client }: TestAccount, otp: unknown): Promise<Response> {
  return client.clone().post('/api/otp/verify').send({ otp });
}

async function expectRejected(account: TestAccount, otp: unknown): Promise<void> {
  expectFailure(await verify(account, otp), 400, MESSAGES.invalidOtp);
}

async function isVerified({ id }: TestAccount): Promise<boolean> {
  return (await service.readUser(id)).email_verified_at !== null;
}

describe('POST /api/otp/verify', () => {
  it('verifies the email, returns data.user with emailVerified, and continues the session without new cookies', async () => {
    const account = await newAccountWithCode();
    expect(await isVerified(account)).toBe(false);
    const response = await verify(account, ` ${account.code}\n`);
    const { id, email } = account;
    const user = { id, fullname: 'Ayu Lestari', email, role: 'USER', emailVerified: true };
    expect(response.body).toEqual({ status: 'success', data: { user } });
    expect(response.status).toBe(200);
    expect(response.headers).not.toHaveProperty('set-cookie');
    expect(await isVerified(account)).toBe(true);
    await account.client.get('/api/refresh').expect(200);
  });

  it('accepts a code as a number, but not with an additional digit', async () => {
    const account = await newAccountWithCode();
    await expectRejected(account, Number(account.code) + 1_000_000);
    expect((await verify(account, Number(account.code))).status).toBe(200);
  });

  it('accepts a code once, even if 10 calls send it in parallel', async () => {
    const account = await newAccountWithCode();
    const responses = await inParallel(10, () => verify(account, account.code));
    expect(sortedStatusesOf(responses)).toEqual([200, ...Array<number>(9).fill(400)]);
  });

  it('accepts a code for 10 minutes', async () => {
    const account = await newAccountWithCode();
    const { seconds } = (await service.readOtp(account.id)) ?? {};
    expect(seconds).toBeGreaterThan(9.5 * MINUTE_S);
    expect(seconds).toBeLessThanOrEqual(10 * MINUTE_S);
    await service.ageOtps(account.id, 10 * MINUTE_S);
    await expectRejected(account, account.code);
    await service.ageOtps(account.id, -MINUTE_S);
    expect((await verify(account, account.code)).status).toBe(200);
  });

  it('rejects the code of another user', async () => {
    const [owner, otherUser] = [await newAccountWithCode(), await newAccountWithCode()];
    // Two codes may be equal by chance.
    if (owner.code !== otherUser.code) await expectRejected(otherUser, owner.code);
    expect((await verify(owner, owner.code)).status).toBe(200);
  });

  it('reports a missing code or a wrong type without counting a try', async () => {
    const account = await newAccountWithCode();
    for (const otp of [undefined, null, '', '  ', true, ['123456']])
      expectInvalid(await verify(account, otp), { otp: 'otp is required' });
    expect(await service.readCounts()).not.toHaveProperty('wrongCodesOfPair');
  });

  it('counts any other text or number as a wrong code', async () => {
    const account = await newAccountWithCode();
    for (const otp of ['12345', '１２３４５６', "'; --", -1, 1.5]) await expectRejected(account, otp);
    expect(await service.readCounts()).toMatchObject({ wrongCodesOfPair: 5 });
  });
});

it('POST /api/otp returns 204 and replaces the code, with new tries and a new validity', async () => {
  const account = await newAccountWithCode();
  for (const wrong of listWrongCodes(account.code, 5)) await expectRejected(account, wrong);
  await service.ageOtps(account.id, MINUTE_S);
  await service.ageCounts(MINUTE_S); // A mailbox gets one code a minute.
  const response = await account.client.post('/api/otp').expect(204);
  expect(response.text).toBe('');
  const code = await service.waitForCode(account.email, SUBJECTS.verification, 2);
  expect((await service.readOtp(account.id))?.seconds).toBeGreaterThan(9.5 * MINUTE_S);
  // Two codes may be equal by chance.
  if (code !== account.code) await expectRejected(account, account.code);
  expect((await verify(account, code)).status).toBe(200);
});

it('verification and password reset have separate codes and tries', async () => {
  const account = await newAccountWithCode();
  const { email } = account;
  await requestResetCode(service, email).expect(204);
  const otp = await service.waitForCode(email, SUBJECTS.reset);
  const reset = (code: string) => requestPasswordReset(service, { email, otp: code });
  // Two codes may be equal by chance.
  if (otp !== account.code) {
    await expectRejected(account, otp);
    expectFailure(await reset(account.code), 400, MESSAGES.invalidOtp);
  }
  for (const wrong of listWrongCodes(account.code, 5)) await verify(account, wrong);
  await reset(otp).expect(204);
});
