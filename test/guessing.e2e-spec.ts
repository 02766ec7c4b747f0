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
import { jobRows } from './support/jobs.js';
import { startService, type TestService } from './support/service.js';
import { statementsOf } from './support/statements.js';
import { until } from './support/wait.js';

const HOUR = 3600;
/** Of a customer who has used it before, of one who has not, and of somebody else. */
const HOME = '192.0.2.1';
const CAFE = '198.51.100.7';
const ATTACKER = '203.0.113.9';
const WRONG = 'not the password';

let service: TestService;
let ayu: TestAccount;

beforeAll(async () => {
  service = await startService({ settings: { TRUSTED_PROXIES: '1' } });
});

afterAll(async () => {
  await service.stop();
});

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

describe('guessing at one account from one address', () => {
  it('issue 4, Hostile input: 50 wrong passwords make the right one wrong there and nowhere else', async () => {
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
    await expectLetIn(CAFE);
    const other = await newAccount(service);
    await expectLetIn(ATTACKER, other.email);
  });

  it('issue 4, Hostile input: the right one is right again when the hour is over', async () => {
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-from', 50);
    await expectRefused(ATTACKER);
    await ageCounts(service, HOUR - 60);
    await expectRefused(ATTACKER);
    await ageCounts(service, 60);
    await expectLetIn(ATTACKER);
  });

  it('issue 4, Hostile input: a refusal does not make the hour longer', async () => {
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-from', 50);
    await ageCounts(service, HOUR / 2);
    await tryPassword(ATTACKER, WRONG);
    await ageCounts(service, HOUR / 2);
    await expectLetIn(ATTACKER);
  });

  it('issue 4, Hostile input: a right password forgives what was mistyped before it', async () => {
    await tryPassword(HOME, WRONG);
    await setCounts(service, 'password-from', 49);
    await expectLetIn(HOME);
    expect(await counts(service)).not.toHaveProperty('password-from');
    await tryPassword(HOME, WRONG);
    await expectLetIn(HOME);
  });

  it('issue 4, Hostile input: guesses sent at one moment do not get past the limit', async () => {
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-from', 45);
    const answers = await Promise.all([
      ...Array.from({ length: 40 }, () => tryPassword(ATTACKER, WRONG)),
      tryPassword(ATTACKER, PASSWORD),
    ]);
    for (const answer of answers) expectWrongPassword(answer);
  });

  it('issue 4, Hostile input: an e-mail that nobody has is counted and answered alike', async () => {
    const email = 'Nobody.At.All@example.com';
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email));
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email.toLowerCase()));
    expect(await counts(service)).toEqual({ 'password-from': 2, 'password-at': 2, 'wrong-of': 2 });
    await setCounts(service, 'password-from', 50);
    expectWrongPassword(await tryPassword(ATTACKER, WRONG, email));
  });

  it('issue 4, Hostile input: the case of the e-mail gives no tries more', async () => {
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-from', 50);
    await expectRefused(ATTACKER, ayu.email.toUpperCase());
  });

  it('issue 4, Hostile input: the current password asked for by a session is counted with those of the login', async () => {
    const { client } = ayu;
    const change = (currentPassword: string) =>
      from(
        ATTACKER,
        client.put('/api/users/password').send({ currentPassword, password: 'x', passwordConfirmation: 'x' }),
      );
    const rename = (password: string) =>
      from(ATTACKER, client.patch('/api/users').send({ email: 'new-mail@example.com', password }));
    expectWrongPassword(await change(WRONG));
    expectWrongPassword(await rename(WRONG));
    expectWrongPassword(await tryPassword(ATTACKER, WRONG));
    expect(await counts(service)).toMatchObject({ 'password-from': 3 });
    await setCounts(service, 'password-from', 50);
    expectWrongPassword(await change(PASSWORD));
    expectWrongPassword(await rename(PASSWORD));
    await from(
      HOME,
      client
        .put('/api/users/password')
        .send({ currentPassword: PASSWORD, password: 'x', passwordConfirmation: 'x' }),
    ).expect(204);
  });
});

describe('guessing at one account from many addresses', () => {
  beforeEach(async () => {
    await expectLetIn(HOME);
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-at', 100);
  });

  it('issue 4, Hostile input: leaves each address its first guess, which the right password passes', async () => {
    await expectLetIn(CAFE);
  });

  it('issue 4, Hostile input: leaves each address its first guess alone', async () => {
    expectWrongPassword(await tryPassword('203.0.113.10', WRONG));
    await expectRefused('203.0.113.10');
    await expectRefused(ATTACKER);
    await ageCounts(service, HOUR);
    await expectLetIn('203.0.113.10');
  });

  it('issue 4, Hostile input: leaves an address that its owner has used all of its guesses', async () => {
    for (let guess = 0; guess < 3; guess += 1) await tryPassword(HOME, WRONG);
    await expectLetIn(HOME);
    expect(await counts(service)).toMatchObject({ 'password-at': 100 });
  });

  it('issue 4, Hostile input: knows an address for 30 days, and anew with each month of use', async () => {
    await ageCounts(service, 29 * 24 * HOUR);
    await expectLetIn(HOME);
    await ageCounts(service, 29 * 24 * HOUR);
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-at', 100);
    await tryPassword(HOME, WRONG);
    await expectLetIn(HOME);
  });
});

describe('guessing at many accounts from one address', () => {
  it('issue 4, Hostile input: 1,000 wrong ones in a quarter of an hour close it to whom it does not know', async () => {
    const [regular, newcomer] = [await newAccount(service), await newAccount(service)];
    await expectLetIn(ATTACKER, regular.email);
    await tryPassword(ATTACKER, WRONG, 'nobody@example.com');
    await setCounts(service, 'wrong-of', 999);
    await expectLetIn(ATTACKER);
    await tryPassword(ATTACKER, WRONG, 'nobody@example.com');

    await expectRefused(ATTACKER, newcomer.email);
    await expectLetIn(ATTACKER, regular.email);
    await expectLetIn(CAFE, newcomer.email);
    await ageCounts(service, HOUR / 4);
    await expectLetIn(ATTACKER, newcomer.email);
  });

  it('issue 4, Hostile input: whoever has registered there is known there', async () => {
    const email = 'registered-there@example.com';
    await from(ATTACKER, service.client().register({ email, password: PASSWORD })).expect(201);
    await tryPassword(ATTACKER, WRONG, 'nobody@example.com');
    await setCounts(service, 'wrong-of', 1_000);
    await expectLetIn(ATTACKER, email);
    await expectRefused(ATTACKER);
  });

  it('issue 4, Hostile input: right passwords are not counted, however many', async () => {
    await Promise.all(Array.from({ length: 20 }, () => expectLetIn(HOME)));
    expect(await counts(service)).toEqual({ known: 1 });
  });
});

describe('guessing at codes', () => {
  it('issue 4, Hostile input: 20 wrong ones at an account from one address: the right one is wrong there and loses no try', async () => {
    const code = await codeTo(service, ayu.email);
    const verify = (address: string, otp: string) =>
      from(address, ayu.client.clone().post('/api/otp/verify').send({ otp }));
    expectWrongCode(await verify(ATTACKER, code === '000000' ? '000001' : '000000'));
    await setCounts(service, 'code-from', 20);
    expectWrongCode(await verify(ATTACKER, code));
    expect((await storedOtp(service, ayu.id))?.tries).toBe(1);
    expect((await verify(HOME, code)).status).toBe(200);
  });

  it('issue 4, Hostile input: the same for a reset, which also forgives wrong passwords', async () => {
    await from(HOME, service.client().post('/api/password/forgot').send({ email: ayu.email })).expect(204);
    const otp = await codeTo(service, ayu.email, SUBJECTS.reset);
    const reset = (address: string, code: string) =>
      from(
        address,
        service
          .client()
          .post('/api/password/reset')
          .send({ email: ayu.email, otp: code, password: PASSWORD, passwordConfirmation: PASSWORD }),
      );
    expectWrongCode(await reset(ATTACKER, otp === '000000' ? '000001' : '000000'));
    await setCounts(service, 'code-from', 20);
    expectWrongCode(await reset(ATTACKER, otp));
    await tryPassword(HOME, WRONG);
    await setCounts(service, 'password-from', 50);
    await expectRefused(HOME);
    expect((await reset(HOME, otp)).status).toBe(204);
    await expectLetIn(HOME);
  });
});

describe('mail that one address causes', () => {
  const ANY_JOB_DUE = 5;

  async function codesWaiting(): Promise<number[]> {
    const rows = await jobRows(service.database.pool, 'send-otp');
    return rows.map(({ due_in }) => due_in);
  }

  it('issue 4, Hostile input: beyond 10,000 an hour a forgotten password is a 204 that mails nothing', async () => {
    const forgot = (address: string) =>
      from(address, service.client().post('/api/password/forgot').send({ email: ayu.email }));
    await from(ATTACKER, service.client().post('/api/password/forgot').send({ email: 'n@example.com' }));
    await setCounts(service, 'mails-of', 10_000);
    const statements = await statementsOf(service, () => forgot(ATTACKER).expect(204));
    expect(statements.filter((statement) => statement.includes('add_job'))).toEqual([]);
    expect(await storedOtp(service, ayu.id, 'reset_password')).toBeNull();
    await forgot(HOME).expect(204);
    await codeTo(service, ayu.email, SUBJECTS.reset);
  });

  it('issue 4, Hostile input: beyond it a registration is a 201 whose mail leaves later', async () => {
    await from(ATTACKER, service.client().post('/api/password/forgot').send({ email: 'n@example.com' }));
    await setCounts(service, 'mails-of', 10_005);
    const client = service.client();
    await from(ATTACKER, client.register({ email: 'slowly@example.com' })).expect(201);
    const [due = 0, ...others] = (await codesWaiting()).filter((seconds) => seconds > ANY_JOB_DUE);
    expect(others).toEqual([]);
    expect(due).toBeGreaterThan(30);
    expect(due).toBeLessThanOrEqual(60);
    await service.database.pool.query('DELETE FROM graphile_worker._private_jobs');
  });

  it('issue 4, Hostile input: mails one account ten codes an hour at most', async () => {
    const again = async (address: string): Promise<void> => {
      await service.database.pool.query(
        `UPDATE one_time_passwords SET requested_at = now() - interval '2 minutes' WHERE user_id = $1`,
        [ayu.id],
      );
      await from(address, ayu.client.clone().post('/api/otp')).expect(204);
    };
    await codeTo(service, ayu.email);
    await again(ATTACKER);
    await codeTo(service, ayu.email, SUBJECTS.verification, 2);
    await setCounts(service, 'mails-to', 10);
    await again(ATTACKER);
    const { rows } = await service.database.pool.query<{ age: number }>(
      'SELECT extract(epoch FROM now() - requested_at)::float AS age FROM one_time_passwords WHERE user_id = $1',
      [ayu.id],
    );
    expect(rows[0]?.age).toBeGreaterThan(100);
    await again(HOME);
    await codeTo(service, ayu.email, SUBJECTS.verification, 3);
  });
});

describe('what is counted', () => {
  it('issue 4, Hostile input: is shared by the processes on one database', async () => {
    const other = await startService({ database: service.database, settings: { TRUSTED_PROXIES: '1' } });
    try {
      await tryPassword(ATTACKER, WRONG);
      await setCounts(service, 'password-from', 49);
      expectWrongPassword(await login(other.client(), ATTACKER, ayu.email, WRONG));
      await expectRefused(ATTACKER);
      expectWrongPassword(await login(other.client(), ATTACKER, ayu.email, PASSWORD));
      expect((await login(other.client(), HOME, ayu.email, PASSWORD)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  it('issue 4, Hostile input: costs a usual login two reads and no write', async () => {
    await expectLetIn(HOME);
    const statements = await statementsOf(service, () => expectLetIn(HOME));
    expect(statements.filter((statement) => statement.includes('attempt_counts'))).toHaveLength(2);
    expect(await counts(service)).toEqual({ known: 1 });
  });

  it('issue 4, Hostile input: is by IPv6 network, of which a guesser has every address', async () => {
    await tryPassword('2001:db8::1', WRONG);
    await setCounts(service, 'password-from', 50);
    await expectRefused('2001:db8::ffff:1');
    await expectLetIn('2001:db8:0:1::1');
  });

  it('issue 4, Hostile input: is by what the nearest proxy says, whatever a client wrote before it', async () => {
    await tryPassword(ATTACKER, WRONG);
    await setCounts(service, 'password-from', 50);
    await expectRefused(`${HOME}, ${ATTACKER}`);
    await expectLetIn(`${ATTACKER}, ${HOME}`);
  });

  it('issue 4, Hostile input: names neither an account nor an address', async () => {
    await tryPassword(ATTACKER, WRONG, 'nobody@example.com');
    await expectLetIn(HOME);
    const { rows } = await service.database.pool.query<{ key: string }>('SELECT key FROM attempt_counts');
    expect(rows.length).toBeGreaterThan(3);
    for (const { key } of rows) expect(key).toMatch(/^[a-z-]+:[\w-]{43}$/);
  });

  it('issue 4, Hostile input: goes when its time is over', async () => {
    await tryPassword(ATTACKER, WRONG);
    await ageCounts(service, HOUR);
    await expectLetIn(HOME);
    await service.database.pool.query(`SELECT graphile_worker.add_job('forget-attempts')`);
    await until('the old counts are gone', async () => {
      const { rows } = await service.database.pool.query<{ key: string }>('SELECT key FROM attempt_counts');
      return rows.length === 1 && rows[0]?.key.startsWith('known:');
    });
  });
});

describe('without TRUSTED_PROXIES', () => {
  it('issue 4, Hostile input: X-Forwarded-For and its relatives have no effect', async () => {
    const plain = await startService();
    try {
      const { email } = await newAccount(plain);
      await forgetCounts(plain);
      const guess = (header: string, value: string, password: string) =>
        plain.client().post('/api/login').set(header, value).send({ email, password });
      await guess('X-Forwarded-For', ATTACKER, WRONG);
      await guess('Forwarded', `for=${HOME}`, WRONG);
      await guess('X-Real-IP', HOME, WRONG);
      expect(await counts(plain)).toEqual({ 'password-from': 3, 'password-at': 3, 'wrong-of': 3 });
      const { rows } = await plain.database.pool.query('SELECT key FROM attempt_counts');
      expect(rows).toHaveLength(3);
      await setCounts(plain, 'password-from', 50);
      expectWrongPassword(await guess('X-Forwarded-For', HOME, PASSWORD));
    } finally {
      await plain.stop();
    }
  });
});
