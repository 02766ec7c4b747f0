import type { Response } from 'supertest';
import {
  requestPasswordChange,
  registerAccount,
  PASSWORD,
  requestLogin,
  requestResetCode,
  requestPasswordReset,
  SUBJECTS,
  type TestAccount,
  listWrongCodes,
} from './support/accounts.js';
import { comparableHeaders, MESSAGES } from './support/failure.js';
import { ATTACKER, CAFE, type Counts, expectWrong, HOME, sendFrom } from './support/guesses.js';
import { measureMs } from './support/measure.js';
import { readMetric } from './support/metrics.js';
import { useService } from './support/service.js';
import { inParallel } from './support/wait.js';

const HOUR_S = 3600;
const WRONG = 'not the password';

const service = await useService({ settings: { TRUSTED_PROXIES: '1' } });
let ayu: TestAccount;

beforeEach(async () => {
  ayu = await registerAccount(service);
  await service.clearCounts();
});

function tryPassword(address: string, password: string, email = ayu.email) {
  return sendFrom(address, requestLogin(service, email, password));
}

function tryReset(address: string, email: string, otp: string) {
  return sendFrom(address, requestPasswordReset(service, { email, otp }, PASSWORD));
}

function expectWrongPassword(response: Response): void {
  expectWrong(response, MESSAGES.wrongCredentials);
}

function expectWrongCode(response: Response): void {
  expectWrong(response, MESSAGES.invalidOtp);
}

async function expectBlocked(address: string, email = ayu.email): Promise<void> {
  expectWrongPassword(await tryPassword(address, PASSWORD, email));
}

async function expectAccepted(address: string, email = ayu.email): Promise<void> {
  expect((await tryPassword(address, PASSWORD, email)).status).toBe(200);
}

async function expectCounts(counts: Counts): Promise<void> {
  expect(await service.readCounts()).toMatchObject(counts);
}

/** Simulates wrong passwords: sends one, then overwrites the counts of all pairs of an account and an IP address. */
async function recordWrongPasswords(address: string, times: number): Promise<void> {
  await tryPassword(address, WRONG);
  await service.setCounts('wrongPasswordsOfPair', times);
}

describe('password guesses for one account from one IP address', () => {
  it('are all rejected after 50 wrong passwords, even in parallel: then a correct password gets the response of a wrong one', async () => {
    // The metric calls a guess that the limit rejects `slowed`.
    const countLogins = (outcome: 'wrong' | 'slowed'): Promise<number> =>
      readMetric('bakery_auth_proofs_total', { secret: 'password', outcome });
    const [wrong, slowed] = [await countLogins('wrong'), await countLogins('slowed')];
    const responses = await inParallel(120, () => tryPassword(ATTACKER, WRONG));
    expect([(await countLogins('wrong')) - wrong, (await countLogins('slowed')) - slowed]).toEqual([50, 70]);
    // A guess that the limit rejects is not counted.
    await expectCounts({ wrongPasswordsOfAccount: 50, wrongPasswordsOfAddress: 50 });
    const rejected = await tryPassword(ATTACKER, PASSWORD);
    expectWrongPassword(rejected);
    // A timer may fire up to 1 ms early.
    expect(await measureMs(() => tryPassword(ATTACKER, PASSWORD))).toBeGreaterThan(149);
    for (const response of responses) {
      expectWrongPassword(response);
      expect(comparableHeaders(response)).toEqual(comparableHeaders(rejected));
    }
    await expectAccepted(HOME);
    await expectAccepted(ATTACKER, (await registerAccount(service)).email);
  });

  it('are all accepted in parallel with the correct password, and leave no wrong password counted', async () => {
    await recordWrongPasswords(CAFE, 40);
    await service.setCounts('wrongPasswordsOfAccount', 0);
    await service.setCounts('wrongPasswordsOfAddress', 0);
    const responses = await inParallel(60, () => tryPassword(CAFE, PASSWORD));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(await service.readCounts()).toEqual({
      wrongPasswordsOfAccount: 0,
      wrongPasswordsOfAddress: 0,
      knownAddresses: 1,
    });
  });

  it('are accepted again one hour after the first wrong password, even if guesses were rejected in between', async () => {
    await recordWrongPasswords(ATTACKER, 50);
    await service.ageCounts(HOUR_S - 60);
    await expectBlocked(ATTACKER);
    await service.ageCounts(60);
    await expectAccepted(ATTACKER);
  });

  it('are counted and rejected in the same way for an unknown email, regardless of letter case', async () => {
    const email = 'Nobody.At.All@example.com';
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email));
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email.toLowerCase()));
    expect(await service.readCounts()).toEqual({
      wrongPasswordsOfPair: 2,
      wrongPasswordsOfAccount: 2,
      wrongPasswordsOfAddress: 2,
    });
    await service.setCounts('wrongPasswordsOfPair', 50);
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email));
  });

  it('include the current password that a change of the account requires', async () => {
    const changePasswordFrom = (address: string, currentPassword: string) =>
      sendFrom(address, requestPasswordChange(ayu.client, { currentPassword }));
    const changeEmail = (password: string) =>
      sendFrom(ATTACKER, ayu.client.patch('/api/users').send({ email: 'new-mail@example.com', password }));
    for (const response of [await changePasswordFrom(ATTACKER, WRONG), await changeEmail(WRONG)])
      expectWrongPassword(response);
    await tryPassword(ATTACKER, WRONG, ayu.email.toUpperCase());
    await expectCounts({ wrongPasswordsOfPair: 3 });
    await service.setCounts('wrongPasswordsOfPair', 50);
    for (const response of [await changePasswordFrom(ATTACKER, PASSWORD), await changeEmail(PASSWORD)])
      expectWrongPassword(response);
    await changePasswordFrom(HOME, PASSWORD).expect(204);
  });
});

describe('password guesses for one account from many IP addresses', () => {
  beforeEach(async () => {
    await expectAccepted(HOME);
    await tryPassword(ATTACKER, WRONG);
    await service.setCounts('wrongPasswordsOfAccount', 98);
  });

  it('leave each unknown IP address one guess, and each /48 network 16, after 100 wrong passwords in an hour', async () => {
    await tryPassword(CAFE, WRONG);
    await expectAccepted(CAFE); // The 100th guess. A correct one is not counted.
    expectWrongPassword(await tryPassword('203.0.113.10', WRONG));
    await expectBlocked('203.0.113.10');
    await expectBlocked(ATTACKER);
    const address = (network: number, n: number) => `2001:db8:${network}:${n}::1`;
    for (let n = 0; n < 15; n += 1)
      for (const network of [1, 2]) await tryPassword(address(network, n), WRONG);
    await expectAccepted(address(1, 15));
    await tryPassword(address(2, 15), WRONG);
    await expectBlocked(address(2, 16));
    await service.ageCounts(HOUR_S);
    await expectAccepted('203.0.113.10');
  });

  it('do not affect an IP address that the owner has used within 30 days', async () => {
    const guessAfterDays = async (days: number) => {
      await service.ageCounts(days * 24 * HOUR_S);
      await tryPassword(ATTACKER, WRONG);
      await service.setCounts('wrongPasswordsOfAccount', 100);
      await tryPassword(HOME, WRONG);
    };
    for (let visit = 0; visit < 2; visit += 1) {
      await guessAfterDays(20);
      await expectAccepted(HOME); // Each use starts another 30 days.
    }
    await guessAfterDays(30);
    await expectBlocked(HOME);
  });
});

it('1,000 wrong passwords in 15 minutes block an IP address, except for accounts whose owners have used the address', async () => {
  const newcomer = await registerAccount(service);
  await expectAccepted(ATTACKER);
  const email = 'registered-there@example.com';
  await sendFrom(ATTACKER, service.client().register({ email, password: PASSWORD })).expect(201);
  await tryPassword(ATTACKER, WRONG, 'nobody@example.com');
  await service.setCounts('wrongPasswordsOfAddress', 999);
  await expectAccepted(ATTACKER, (await registerAccount(service)).email); // A correct password is not counted.
  await tryPassword(ATTACKER, WRONG, 'nobody@example.com');
  const rows = await service.countRows();
  await tryPassword(ATTACKER, WRONG, 'nobody-else@example.com');
  expect(await service.countRows()).toBe(rows); // Beyond its limit, an address gets no further rows.

  await expectBlocked(ATTACKER, newcomer.email);
  await expectAccepted(ATTACKER);
  await expectAccepted(ATTACKER, email);
  await expectAccepted(CAFE, newcomer.email);
  await service.ageCounts(HOUR_S / 4);
  await expectAccepted(ATTACKER, newcomer.email);
});

describe('guesses of codes', () => {
  let code: string;

  beforeEach(async () => {
    code = await service.waitForCode(ayu.email);
  });

  const verify = (address: string, otp: string, { client } = ayu) =>
    sendFrom(address, client.clone().post('/api/otp/verify').send({ otp }));
  const requestResetFrom = (address: string) =>
    sendFrom(address, requestResetCode(service, ayu.email)).expect(204);

  it('from one IP address do not use up the tries of another', async () => {
    for (const wrong of listWrongCodes(code, 5)) expectWrongCode(await verify(ATTACKER, wrong));
    expectWrongCode(await verify(ATTACKER, code));
    expect((await verify(CAFE, code)).status).toBe(200);
    // A correct code is not counted, and makes the IP address known.
    const wrong = { wrongCodesOfPair: 5, wrongCodesOfAddress: 5, wrongTriesOfCode: 5 };
    await expectCounts({ ...wrong, knownAddresses: 1 });
  });

  it('that arrive in parallel are checked at most 5 times from one IP address and 20 times in total', async () => {
    const fromOne = listWrongCodes(code, 20).map((wrong) => verify(ATTACKER, wrong));
    for (const response of await Promise.all(fromOne)) expectWrongCode(response);
    await expectCounts({ wrongCodesOfPair: 5, wrongTriesOfCode: 5 });
    const fromSix = listWrongCodes(code, 30).map((wrong, index) =>
      verify(`203.0.113.${100 + (index % 6)}`, wrong),
    );
    for (const response of await Promise.all(fromSix)) expectWrongCode(response);
    await expectCounts({ wrongCodesOfPair: 20, wrongTriesOfCode: 20 });
    expectWrongCode(await verify(CAFE, code));
  });

  it.each([
    ['that the owner has used before', () => expectAccepted(HOME)],
    [
      'that requested the code',
      async () => {
        await sendFrom(HOME, ayu.client.clone().post('/api/otp')).expect(204);
        code = await service.waitForCode(ayu.email, SUBJECTS.verification, 2);
      },
    ],
  ])('from other addresses do not lock out the address %s', async (_which, useAddress) => {
    await useAddress();
    await Promise.all(
      listWrongCodes(code, 25).map((wrong, index) => verify(`203.0.113.${index % 5}`, wrong)),
    );
    for (const wrong of listWrongCodes(code, 4)) expectWrongCode(await verify(HOME, wrong));
    expect((await verify(HOME, code)).status).toBe(200);
  });

  it('that arrive in parallel from one IP address for many accounts are checked at most 60 times an hour', async () => {
    const accounts = await inParallel(20, () => registerAccount(service));
    const codes = await Promise.all(accounts.map(({ email }) => service.waitForCode(email)));
    await service.clearCounts();
    const guesses = accounts.flatMap((account, index) =>
      listWrongCodes(codes[index] ?? '', 4).map((wrong) => verify(ATTACKER, wrong, account)),
    );
    for (const response of await Promise.all(guesses)) expectWrongCode(response);
    await expectCounts({ wrongCodesOfAddress: 60, wrongTriesOfCode: 60 });
    expectWrongCode(await verify(ATTACKER, code));
    expect((await verify(HOME, code)).status).toBe(200);
    await service.ageCounts(HOUR_S);
    const [first] = accounts;
    expect((await verify(ATTACKER, codes[0] ?? '', first)).status).toBe(200);
  });

  it('are also counted for an email without an account, regardless of letter case', async () => {
    for (const email of ['nobody@example.com', 'NOBODY@example.com'])
      expectWrongCode(await tryReset(ATTACKER, email, '000000'));
    await expectCounts({ wrongCodesOfPair: 2, wrongCodesOfAddress: 2, wrongTriesOfCode: 2 });
  });

  it('for a reset delete the count of wrong passwords from the IP address if the code is correct', async () => {
    await requestResetFrom(HOME);
    const otp = await service.waitForCode(ayu.email, SUBJECTS.reset);
    await recordWrongPasswords(HOME, 50);
    await expectBlocked(HOME);
    expect((await tryReset(HOME, ayu.email, otp)).status).toBe(204);
    await expectAccepted(HOME);
  });

  it('for a reset leave five tries to the address whose request caused the mail, whatever others tried', async () => {
    await requestResetFrom(CAFE);
    const otp = await service.waitForCode(ayu.email, SUBJECTS.reset);
    const others = Array.from({ length: 21 }, (_, index) => `203.0.113.${index}`);
    // They request the code too, but no mail is sent for their requests, so they get no tries beyond 100 in total.
    await Promise.all(others.map(requestResetFrom));
    const wrong = listWrongCodes(otp, 5);
    await Promise.all(others.flatMap((address) => wrong.map((guess) => tryReset(address, ayu.email, guess))));
    expectWrongCode(await tryReset('203.0.113.77', ayu.email, otp));
    expect((await tryReset(CAFE, ayu.email, otp)).status).toBe(204);
  });

  it('for a reset leave five tries to each address that requested the code, even if an attacker has used up 20 tries', async () => {
    await requestResetFrom(ATTACKER);
    const otp = await service.waitForCode(ayu.email, SUBJECTS.reset);
    await requestResetFrom(CAFE); // Sends no second code within a minute.
    await Promise.all(
      listWrongCodes(otp, 30).map((wrong, index) => tryReset(`203.0.113.${index % 6}`, ayu.email, wrong)),
    );
    expectWrongCode(await tryReset('203.0.113.77', ayu.email, otp));
    for (const wrong of listWrongCodes(otp, 4)) expectWrongCode(await tryReset(CAFE, ayu.email, wrong));
    expect((await tryReset(CAFE, ayu.email, otp)).status).toBe(204);
  });
});

it('a check of a password is dropped if its client disconnects before its turn', async () => {
  const countChecks = () => readMetric('bakery_auth_proofs_total', { secret: 'password' });
  const before = await countChecks();
  const body = JSON.stringify({ email: ayu.email, password: WRONG });
  const leaving = Array.from({ length: 200 }, () => {
    const abort = new AbortController();
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': ATTACKER };
    const sent = fetch(`${service.url}/api/login`, { method: 'POST', headers, body, signal: abort.signal });
    return { abort, sent };
  });
  await Promise.race(leaving.map(({ sent }) => sent));
  for (const { abort } of leaving) abort.abort();
  await Promise.allSettled(leaving.map(({ sent }) => sent));
  // The passwords of a client are checked in the order of arrival, so the queue is empty after this one.
  await tryPassword(ATTACKER, WRONG);
  expect((await countChecks()) - before).toBeLessThan(100);
});

describe('the counts of guesses', () => {
  it('are kept by IPv4 address or IPv6 network, without the port that some proxies add', async () => {
    await recordWrongPasswords('2001:db8::1', 50);
    for (const address of ['2001:db8::ffff:1', '[2001:db8::1]', '[2001:db8::1]:4711'])
      await expectBlocked(address);
    await expectAccepted('2001:db8:0:1::1');
    // A /48 network has 16 times the limit of an address. Each guess counts for the /64 and for the /48.
    await recordWrongPasswords('2001:db8:0:2::1', 799);
    await expectAccepted('2001:db8:0:3::1');
    await recordWrongPasswords('2001:db8:0:4::1', 800);
    await expectBlocked('2001:db8:0:3::1');
    await expectAccepted('2001:db8:1:3::1');
    await recordWrongPasswords(ATTACKER, 50);
    for (const address of [`::ffff:${ATTACKER}`, `${ATTACKER}:4711`]) await expectBlocked(address);
  });

  it('use the address that the nearest proxy adds, not an address that the client claims', async () => {
    await recordWrongPasswords(ATTACKER, 50);
    await expectBlocked(`${HOME}, ${ATTACKER}`);
    await expectAccepted(`${ATTACKER}, ${HOME}`);
  });

  it('contain neither accounts nor IP addresses', async () => {
    await tryPassword(ATTACKER, WRONG, 'nobody@example.com');
    await expectAccepted(HOME);
    const rows = await service.database.query<{ key: string }>('SELECT key FROM attempt_counts');
    expect(rows.length).toBeGreaterThan(3);
    // The name of the count and a hash.
    for (const { key } of rows) expect(key).toMatch(/^[a-z-]+:[\w-]{43}$/);
  });
});

it('without TRUSTED_PROXIES, the counts of guesses ignore X-Forwarded-For and similar headers', async () => {
  const plain = await useService();
  const { email } = await registerAccount(plain);
  const guess = (header: string, value: string, password: string) =>
    requestLogin(plain, email, password).set(header, value);
  await guess('X-Forwarded-For', ATTACKER, WRONG);
  await plain.setCounts('wrongPasswordsOfPair', 50);
  expectWrongPassword(await guess('X-Forwarded-For', HOME, PASSWORD));
  expectWrongPassword(await guess('Forwarded', `for=${HOME}`, PASSWORD));
  expectWrongPassword(await guess('X-Real-IP', HOME, PASSWORD));
});
