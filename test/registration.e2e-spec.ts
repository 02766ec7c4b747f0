import { expectFailure, MESSAGES } from './support/failure.js';
import type { Client, Registration } from './support/client.js';
import { cookiesOf } from './support/client.js';
import { startService, type TestService } from './support/service.js';

const PASSWORD = 'kue lapis legit';

let service: TestService;
let emails = 0;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

function freshEmail(): string {
  emails += 1;
  return `someone-${emails}@example.com`;
}

function register(fields: Record<string, unknown>, client: Client = service.client()) {
  return client.post('/api/register').send({
    email: freshEmail(),
    fullname: 'Ayu Lestari',
    password: PASSWORD,
    passwordConfirmation: fields.password ?? PASSWORD,
    ...fields,
  });
}

async function usersOf(email: string): Promise<Record<string, unknown>[]> {
  const { rows } = await service.database.pool.query<Record<string, unknown>>(
    'SELECT * FROM users WHERE lower(email) = lower($1)',
    [email],
  );
  return rows;
}

describe('a registration', () => {
  it('answers 201 with exactly id, fullname, email and role, and signs the new user in (contract 4.1)', async () => {
    const client = service.client();
    const email = freshEmail();
    const response = await register({ email }, client);
    expect(response.status).toBe(201);
    const { id } = (response.body as { data: { user: { id: number } } }).data.user;
    expect(Number.isSafeInteger(id) && id > 0).toBe(true);
    expect(response.body).toEqual({
      status: 'success',
      data: { user: { id, fullname: 'Ayu Lestari', email, role: 'USER' } },
    });
    expect(cookiesOf(response).map(({ name }) => name)).toEqual(['accessToken', 'refreshToken']);
    const current = await client.get('/api/users').expect(200);
    expect(current.body).toEqual({
      status: 'success',
      data: { user: { id, fullname: 'Ayu Lestari', email } },
    });
    await client.get('/api/refresh').expect(200);
  });

  it('stores the password as argon2id with at least m=19456, t=2, p=1, salted', async () => {
    const emails = [freshEmail(), freshEmail()];
    await Promise.all(emails.map((email) => register({ email })));
    const hashes = (await Promise.all(emails.map(usersOf))).flat().map((user) => String(user.password_hash));
    expect(new Set(hashes).size).toBe(2);
    const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(hashes[0] ?? '');
    const [memory = 0, passes = 0, threads = 0] = (parts ?? []).slice(1).map(Number);
    expect(memory).toBeGreaterThanOrEqual(19_456);
    expect(passes).toBeGreaterThanOrEqual(2);
    expect(threads).toBeGreaterThanOrEqual(1);
  });

  it('unknown fields bind nothing and are not refused', async () => {
    const email = freshEmail();
    const unknown = { id: 424_242, role: 'ADMIN', emailVerified: true, emailVerifiedAt: '2020-01-01' };
    await register({ email, ...unknown, sessionId: 'x', passwordHash: 'x', refreshTokenDigest: 'x' }).expect(
      201,
    );
    const [stored] = await usersOf(email);
    expect(stored).toMatchObject({ role: 'USER', email_verified_at: null });
    expect(stored?.id).not.toBe(424_242);
  });
});

describe('the fields of a registration', () => {
  const required = {
    email: 'email is required',
    fullname: 'fullname is required',
    password: 'password is required',
    passwordConfirmation: 'password confirmation is required',
  };

  it.each([
    ['absent', undefined],
    ['a number', 7],
    ['empty', ''],
  ])('that are %s count as missing and are reported all together', async (_what, value) => {
    const fields = { email: value, fullname: value, password: value, passwordConfirmation: value };
    const response = await service.client().post('/api/register').send(fields);
    expectFailure(response, 400, MESSAGES.validation, required);
  });

  it('are trimmed before "not empty" is judged', async () => {
    const blank = { email: ' \t', fullname: '\n ', password: '   ', passwordConfirmation: '   ' };
    const { email, fullname, password } = required;
    expectFailure(await register(blank), 400, MESSAGES.validation, { email, fullname, password });
  });

  it('e-mail and name are stored trimmed, a password keeps its spaces', async () => {
    const email = freshEmail();
    const password = '  spaces count  ';
    const response = await register({ email: `  ${email}\t`, fullname: ' A ', password }).expect(201);
    expect(response.body).toMatchObject({ data: { user: { email, fullname: 'A' } } });
    const login = (typed: string) => service.client().post('/api/login').send({ email, password: typed });
    expect((await login(password)).status).toBe(200);
    expectFailure(await login(password.trim()), 400, MESSAGES.credentials);
  });

  it.each([
    'plain',
    'a@example.com, b@example.com',
    `${'a'.repeat(65)}@example.com`,
    '"a\r\nBcc: b@example.com"@example.com',
  ])('%j is no e-mail address', async (email) => {
    expectFailure(await register({ email }), 400, MESSAGES.validation, {
      email: 'your email format is invalid',
    });
  });

  it('the confirmation must equal the password exactly', async () => {
    for (const passwordConfirmation of ['Kue lapis legit', `${PASSWORD} `, 'x'])
      expectFailure(await register({ passwordConfirmation }), 400, MESSAGES.validation, {
        passwordConfirmation: 'password confirmation does not match',
      });
  });

  it('one character more than the longest is refused, and what would not be stored as it was sent', async () => {
    const tooLong = { email: emailOfLength(255), fullname: 'n'.repeat(256), password: 'p'.repeat(1025) };
    expectFailure(await register(tooLong), 400, MESSAGES.validation, {
      email: 'email can have 254 characters at max',
      fullname: 'fullname can have 255 characters at max',
      password: 'password can have 1024 characters at max',
    });
    for (const part of ['\0', '\ud800', '\ufffd'])
      expectFailure(
        await register({ email: `${part}@a.co`, fullname: part, password: part }),
        400,
        MESSAGES.validation,
        {
          email: 'email contains a character that is not allowed',
          fullname: 'fullname contains a character that is not allowed',
          password: 'password contains a character that is not allowed',
        },
      );
  });

  it('the longest e-mail, name and password serve to sign in; their cookies stay under the 4096 bytes of a browser', async () => {
    const [email, password] = [emailOfLength(254), '🍞'.repeat(1024)];
    // A control character takes six bytes in JSON, more than any other.
    await register({ email, fullname: `a${'\u0001'.repeat(253)}b`, password }).expect(201);
    const client = service.client();
    const response = await client.post('/api/login').send({ email, password }).expect(200);
    for (const { name, value } of cookiesOf(response))
      expect(name.length + 1 + value.length).toBeLessThan(4096);
    await client.get('/api/users').expect(200);
  });
});

describe('a second registration with one e-mail', () => {
  it('answers 409, sets no cookie and leaves the first as it was', async () => {
    const email = freshEmail();
    await register({ email, password: 'the first' }).expect(201);
    const second = await register({ email, password: 'the second', fullname: 'Somebody else' });
    expectFailure(second, 409, MESSAGES.emailTaken);
    expect(cookiesOf(second)).toEqual([]);
    expect((await usersOf(email)).map(({ fullname }) => fullname)).toEqual(['Ayu Lestari']);
    await service.client().post('/api/login').send({ email, password: 'the first' }).expect(200);
  });

  it('an address is unique without regard to case and kept as typed', async () => {
    const response = await register({ email: 'Dewi.SARI@Example.COM' });
    expect(response.body).toMatchObject({ data: { user: { email: 'Dewi.SARI@Example.COM' } } });
    expectFailure(await register({ email: 'dewi.sari@example.com' }), 409, MESSAGES.emailTaken);
    expectFailure(await register({ email: ' DEWI.SARI@EXAMPLE.COM ' }), 409, MESSAGES.emailTaken);
    await register({ email: 'ÀYU@example.com' }).expect(201);
    expectFailure(await register({ email: 'àyu@example.com' }), 409, MESSAGES.emailTaken);
  });

  it('of many at once, in different cases, one is 201 and the others 409', async () => {
    const spellings = ['race@example.com', 'RACE@example.com', 'Race@Example.com', 'race@EXAMPLE.COM'];
    const responses = await Promise.all(
      [...spellings, ...spellings, ...spellings].map((email) => register({ email })),
    );
    const refused = responses.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(responses.length - 1);
    for (const response of refused) expectFailure(response, 409, MESSAGES.emailTaken);
    expect(await usersOf('race@example.com')).toHaveLength(1);
  });
});

/** A valid address of this length; the local part has at most 64 characters and each label of the domain 63. */
function emailOfLength(length: number): Registration['email'] {
  const start = `${'a'.repeat(64)}@${'a'.repeat(63)}.${'a'.repeat(63)}.`;
  return `${start}${'a'.repeat(length - start.length - '.com'.length)}.com`;
}
