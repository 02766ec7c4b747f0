import { codeTo, newAccount, PASSWORD, storedOtp, SUBJECTS, type TestAccount } from './support/accounts.js';
import {
  ageCounts,
  counts,
  expectWrongCode,
  expectWrongPassword,
  forgetCounts,
  from,
  login,
  setCounts,
} from './support/guesses.js';
import { startService, type TestService } from './support/service.js';

const HOUR = 3600;
/** Addresses of a customer who has used it before, of one who has not, and of somebody else. */
const HOME = '192.0.2.1';
const CAFE = '198.51.100.7';
const ATTACKER = '203.0.113.9';
const WRONG = 'not the password';

let service: TestService;
let ayu: TestAccount;

beforeAll(async () => {
  service = await startService({ settings: { TRUSTED_PROXIES: '1' } });
});

afterAll(() => service.stop());

beforeEach(async () => {
  ayu = await newAccount(service);
  await forgetCounts(service);
});

function tryPassword(address: string, password: string, email = ayu.email) {
  return login(service.client(), address, email, password);
}

async function expectRefused(address: string, email = ayu.email): Promise<void> {
  expectWrongPassword(await tryPassword(address, PASSWORD, email));
}

async function expectLetIn(address: string, email = ayu.email): Promise<void> {
  expect((await tryPassword(address, PASSWORD, email)).status).toBe(200);
}

/** As if an address had given so many wrong passwords for an account. */
async function guessed(address: string, times: number, email = ayu.email): Promise<void> {
  await tryPassword(address, WRONG, email);
  await setCounts(service, 'password-from', times);
}

describe('guessing at one account from one address', () => {
  it('after 50 wrong passwords the right one is answered like a wrong one, there and nowhere else', async () => {
    const answers = await Promise.all(Array.from({ length: 49 }, () => tryPassword(ATTACKER, WRONG)));
    for (const answer of answers) expectWrongPassword(answer);
    const last = await tryPassword(ATTACKER, WRONG);
    expect(await counts(service)).toMatchObject({ 'password-from': 50, 'password-at': 50, 'wrong-of': 50 });

    const refused = await tryPassword(ATTACKER, PASSWORD);
    expectWrongPassword(refused);
    const withoutVariables = ({ headers }: typeof last) => ({
      ...(headers as Record<string, string>),
      'x-request-id': '',
      date: '',
    });
    expect(withoutVariables(refused)).toEqual(withoutVariables(last));
    expect(refused.text).toBe(last.text);
    await expectLetIn(HOME);
    await expectLetIn(ATTACKER, (await newAccount(service)).email);
  });

  it('the hour begins with the first wrong password, and refused ones do not make it longer', async () => {
    await guessed(ATTACKER, 50);
    await ageCounts(service, HOUR - 60);
    await expectRefused(ATTACKER);
    await ageCounts(service, 60);
    await expectLetIn(ATTACKER);
  });

  it('a right password deletes the count of wrong ones before it', async () => {
    await guessed(HOME, 49);
    await expectLetIn(HOME);
    expect(await counts(service)).not.toHaveProperty('password-from');
  });

  it('an unknown e-mail is counted and answered alike, in any case', async () => {
    const email = 'Nobody.At.All@example.com';
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email));
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email.toLowerCase()));
    expect(await counts(service)).toEqual({ 'password-from': 2, 'password-at': 2, 'wrong-of': 2 });
    await setCounts(service, 'password-from', 50);
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email));
  });

  it('the current password that a change asks for is counted with the passwords of the login', async () => {
    const passwords = { password: 'x', passwordConfirmation: 'x' };
    const change = (address: string, currentPassword: string) =>
      from(address, ayu.client.put('/api/users/password').send({ currentPassword, ...passwords }));
    const rename = (password: string) =>
      from(ATTACKER, ayu.client.patch('/api/users').send({ email: 'new-mail@example.com', password }));
    for (const answer of [await change(ATTACKER, WRONG), await rename(WRONG)]) expectWrongPassword(answer);
    await tryPassword(ATTACKER, WRONG, ayu.email.toUpperCase());
    expect(await counts(service)).toMatchObject({ 'password-from': 3 });
    await setCounts(service, 'password-from', 50);
    for (const answer of [await change(ATTACKER, PASSWORD), await rename(PASSWORD)])
      expectWrongPassword(answer);
    await change(HOME, PASSWORD).expect(204);
  });
});

describe('guessing at one account from many addresses', () => {
  beforeEach(async () => {
    await expectLetIn(HOME);
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-at', 100);
  });

  it('after 100 wrong passwords an hour a new address has its first guess alone', async () => {
    await expectLetIn(CAFE);
    expectWrongPassword(await tryPassword('203.0.113.10', WRONG));
    await expectRefused('203.0.113.10');
    await expectRefused(ATTACKER);
    await ageCounts(service, HOUR);
    await expectLetIn('203.0.113.10');
  });

  it('an address is known for 30 days, and for 30 more after each month of use', async () => {
    for (let month = 0; month < 2; month += 1) {
      await ageCounts(service, 29 * 24 * HOUR);
      await expectLetIn(HOME);
    }
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-at', 100);
    await tryPassword(HOME, WRONG);
    await expectLetIn(HOME);
  });
});

describe('guessing at many accounts from one address', () => {
  it('after 1,000 wrong ones in 15 minutes only accounts whose owners have used it are let in', async () => {
    const newcomer = await newAccount(service);
    await expectLetIn(ATTACKER);
    const email = 'registered-there@example.com';
    await from(ATTACKER, service.client().register({ email, password: PASSWORD })).expect(201);
    await tryPassword(ATTACKER, WRONG, 'nobody@example.com');
    await setCounts(service, 'wrong-of', 999);
    await tryPassword(ATTACKER, WRONG, 'nobody@example.com');

    await expectRefused(ATTACKER, newcomer.email);
    await expectLetIn(ATTACKER);
    await expectLetIn(ATTACKER, email);
    await expectLetIn(CAFE, newcomer.email);
    await ageCounts(service, HOUR / 4);
    await expectLetIn(ATTACKER, newcomer.email);
  });
});

describe('guessing at codes', () => {
  it('after 20 wrong codes the right one is answered like a wrong one, and costs the owner no try', async () => {
    const code = await codeTo(service, ayu.email);
    const verify = (address: string, otp: string) =>
      from(address, ayu.client.clone().post('/api/otp/verify').send({ otp }));
    expectWrongCode(await verify(ATTACKER, code === '000000' ? '000001' : '000000'));
    await setCounts(service, 'code-from', 20);
    expectWrongCode(await verify(ATTACKER, code));
    expect((await storedOtp(service, ayu.id))?.tries).toBe(1);
    expect((await verify(HOME, code)).status).toBe(200);
  });

  it('the same for a reset, which also deletes the count of wrong passwords', async () => {
    await from(HOME, service.client().post('/api/password/forgot').send({ email: ayu.email })).expect(204);
    const otp = await codeTo(service, ayu.email, SUBJECTS.reset);
    const body = { email: ayu.email, password: PASSWORD, passwordConfirmation: PASSWORD };
    const reset = (address: string, code: string) =>
      from(
        address,
        service
          .client()
          .post('/api/password/reset')
          .send({ ...body, otp: code }),
      );
    expectWrongCode(await reset(ATTACKER, otp === '000000' ? '000001' : '000000'));
    await setCounts(service, 'code-from', 20);
    expectWrongCode(await reset(ATTACKER, otp));
    await guessed(HOME, 50);
    await expectRefused(HOME);
    expect((await reset(HOME, otp)).status).toBe(204);
    await expectLetIn(HOME);
  });
});

it('one address has ten codes an hour mailed to an account at most; another address can still ask', async () => {
  const sendAgain = async (address: string): Promise<void> => {
    await service.database.pool.query(
      `UPDATE one_time_passwords SET requested_at = now() - interval '2 minutes' WHERE user_id = $1`,
      [ayu.id],
    );
    await from(address, ayu.client.clone().post('/api/otp')).expect(204);
  };
  await codeTo(service, ayu.email);
  await sendAgain(ATTACKER);
  await codeTo(service, ayu.email, SUBJECTS.verification, 2);
  await setCounts(service, 'mails-to', 10);
  await sendAgain(ATTACKER);
  const { rows } = await service.database.pool.query<{ age: number }>(
    'SELECT extract(epoch FROM now() - requested_at)::float AS age FROM one_time_passwords WHERE user_id = $1',
    [ayu.id],
  );
  expect(rows[0]?.age).toBeGreaterThan(100);
  await sendAgain(HOME);
  await codeTo(service, ayu.email, SUBJECTS.verification, 3);
});

describe('the counts', () => {
  it('are by address or IPv6 network, without the port that some proxies add', async () => {
    await guessed('2001:db8::1', 50);
    for (const address of ['2001:db8::ffff:1', '[2001:db8::1]:4711']) await expectRefused(address);
    await expectLetIn('2001:db8:0:1::1');
    await guessed(ATTACKER, 50);
    for (const address of [`::ffff:${ATTACKER}`, `${ATTACKER}:4711`]) await expectRefused(address);
  });

  it('are by what the nearest proxy says, not by what a client wrote before it', async () => {
    await guessed(ATTACKER, 50);
    await expectRefused(`${HOME}, ${ATTACKER}`);
    await expectLetIn(`${ATTACKER}, ${HOME}`);
  });

  it('name neither an account nor an address', async () => {
    await tryPassword(ATTACKER, WRONG, 'nobody@example.com');
    await expectLetIn(HOME);
    const { rows } = await service.database.pool.query<{ key: string }>('SELECT key FROM attempt_counts');
    expect(rows.length).toBeGreaterThan(3);
    for (const { key } of rows) expect(key).toMatch(/^[a-z-]+:[\w-]{43}$/);
  });

  it('without TRUSTED_PROXIES, X-Forwarded-For and its relatives have no effect', async () => {
    const plain = await startService();
    try {
      const { email } = await newAccount(plain);
      await forgetCounts(plain);
      const guess = (header: string, value: string, password: string) =>
        plain.client().post('/api/login').set(header, value).send({ email, password });
      await guess('X-Forwarded-For', ATTACKER, WRONG);
      await guess('Forwarded', `for=${HOME}`, WRONG);
      await guess('X-Real-IP', HOME, WRONG);
      await setCounts(plain, 'password-from', 50);
      expectWrongPassword(await guess('X-Forwarded-For', CAFE, PASSWORD));
    } finally {
      await plain.stop();
    }
  });
});
