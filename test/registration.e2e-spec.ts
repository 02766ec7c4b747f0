import { expectFailure, MESSAGES } from './support/failure.js';
import type { Client, Registration } from './support/client.js';
import { cookiesOf } from './support/client.js';
import { startService, type TestService } from './support/service.js';
import { claimsOf } from './support/tokens.js';

const PASSWORD = 'kue lapis legit';

let service: TestService;
let emails = 0;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

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
  it('interface 4.1: answers 201 with exactly id, fullname, email and role under data.user', async () => {
    const email = freshEmail();
    const response = await register({ email });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      status: 'success',
      data: { user: { id: expect.any(Number) as number, fullname: 'Ayu Lestari', email, role: 'USER' } },
    });
  });

  it('interface 4.1: sets both cookies, and they sign the new user in', async () => {
    const client = service.client();
    const response = await register({}, client).expect(201);
    expect(cookiesOf(response).map(({ name }) => name)).toEqual(['accessToken', 'refreshToken']);
    const { id, fullname, email } = (response.body as { data: { user: Record<string, unknown> } }).data.user;
    const current = await client.get('/api/users').expect(200);
    expect(current.body).toEqual({ status: 'success', data: { user: { id, fullname, email } } });
    await client.get('/api/refresh').expect(200);
  });

  it('interface 2.1: the id is a positive integer of its own for every user', async () => {
    const responses = await Promise.all([register({}), register({}), register({})]);
    const ids = responses.map(({ body }) => (body as { data: { user: { id: number } } }).data.user.id);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(Number.isSafeInteger(id) && id > 0).toBe(true);
  });

  it('interface 2.1, decisions, Accounts: the password is stored as argon2id with at least m=19456, t=2, p=1', async () => {
    const email = freshEmail();
    await register({ email }).expect(201);
    const [user] = await usersOf(email);
    const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(String(user?.password_hash));
    if (parts === null) throw new Error(`not an argon2id hash: ${String(user?.password_hash)}`);
    const [memory = 0, passes = 0, lanes = 0] = parts.slice(1).map(Number);
    expect(memory).toBeGreaterThanOrEqual(19_456);
    expect(passes).toBeGreaterThanOrEqual(2);
    expect(lanes).toBeGreaterThanOrEqual(1);
  });

  it('interface 2.1: two users with one password have different hashes', async () => {
    const [first, second] = [freshEmail(), freshEmail()];
    await Promise.all([register({ email: first }), register({ email: second })]);
    const hashes = [...(await usersOf(first)), ...(await usersOf(second))].map((user) => user.password_hash);
    expect(new Set(hashes).size).toBe(2);
  });

  it('interface 2.1: the password is never returned, stored in clear or logged', async () => {
    const password = 'a secret that must not appear 7f3a';
    const email = freshEmail();
    const accepted = await register({ email, password }).expect(201);
    const refused = await register({ email, password }).expect(409);
    const invalid = await register({ email: 'nobody', password }).expect(400);
    for (const { text, headers } of [accepted, refused, invalid])
      expect(text + JSON.stringify(headers)).not.toContain(password);
    expect(accepted.text).not.toContain('argon2');
    expect(JSON.stringify(await usersOf(email))).not.toContain(password);
    expect(JSON.stringify(service.log)).not.toContain(password);
  });

  it('decisions, Answers: unknown fields bind nothing and are not refused', async () => {
    const email = freshEmail();
    const response = await register({
      email,
      id: 424_242,
      role: 'ADMIN',
      emailVerified: true,
      emailVerifiedAt: '2020-01-01',
      sessionId: 'x',
      passwordHash: 'x',
      refreshTokenDigest: 'x',
    });
    expect(response.status).toBe(201);
    const { user } = (response.body as { data: { user: Record<string, unknown> } }).data;
    expect(user.role).toBe('USER');
    expect(user.id).not.toBe(424_242);
    const [stored] = await usersOf(email);
    expect(stored).toMatchObject({ id: user.id, role: 'USER', email_verified_at: null });
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'decisions, Answers: a field named %s changes no prototype and binds nothing',
    async (key) => {
      const email = freshEmail();
      const polluted = { role: 'ADMIN', isAdmin: true, prototype: { role: 'ADMIN' } };
      const json = JSON.stringify({
        email,
        fullname: 'Ayu',
        password: PASSWORD,
        passwordConfirmation: PASSWORD,
      }).replace('{', `{"${key}":${JSON.stringify(polluted)},`);
      const response = await service
        .client()
        .post('/api/register')
        .set('Content-Type', 'application/json')
        .send(json);
      expect(response.status).toBe(201);
      expect((await usersOf(email))[0]?.role).toBe('USER');
      expect((await service.client().get('/api/users')).status).toBe(401);
      const next = await register({}).expect(201);
      expect((next.body as { data: { user: object } }).data.user).toHaveProperty('role', 'USER');
      expect('isAdmin' in {}).toBe(false);
    },
  );

  it('decisions, Answers: required fields that stand only in __proto__ are missing', async () => {
    const fields = JSON.stringify({ email: freshEmail(), fullname: 'Ayu', password: PASSWORD });
    const response = await service
      .client()
      .post('/api/register')
      .set('Content-Type', 'application/json')
      .send(`{"__proto__":${fields},"passwordConfirmation":"${PASSWORD}"}`);
    expect(response.status).toBe(400);
    expect(Object.keys((response.body as { errors: { details: object } }).errors.details)).toEqual([
      'email',
      'fullname',
      'password',
      'passwordConfirmation',
    ]);
  });
});

describe('the fields of a registration', () => {
  const required = {
    email: 'email is required',
    fullname: 'fullname is required',
    password: 'password is required',
    passwordConfirmation: 'password confirmation is required',
  };

  it('interface 4.1, decisions, Answers: every missing field is reported, all together', async () => {
    const response = await service.client().post('/api/register').send({});
    expectFailure(response, 400, MESSAGES.validation, required);
  });

  it.each([
    ['null', null],
    ['a number', 7],
    ['a list', ['a@example.com']],
    ['an object', { a: 'a@example.com' }],
    ['true', true],
    ['empty', ''],
  ])('interface 4.1: a field that is %s counts as missing', async (_what, value) => {
    const fields = { email: value, fullname: value, password: value, passwordConfirmation: value };
    expectFailure(await register(fields), 400, MESSAGES.validation, required);
  });

  it('decisions, Answers: text is trimmed before "not empty" is judged', async () => {
    const blank = { email: ' \t', fullname: '\n ', password: '   ', passwordConfirmation: '   ' };
    const response = await register(blank);
    const { email, fullname, password } = required;
    expectFailure(response, 400, MESSAGES.validation, { email, fullname, password });
  });

  it('decisions, Answers: e-mail and name are stored trimmed, a password keeps its spaces', async () => {
    const email = freshEmail();
    const password = '  spaces count  ';
    const response = await register({ email: `  ${email}\t`, fullname: ' Ayu ', password });
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({ data: { user: { email, fullname: 'Ayu' } } });
    await service.client().post('/api/login').send({ email, password }).expect(200);
    expectFailure(
      await service.client().post('/api/login').send({ email, password: password.trim() }),
      400,
      MESSAGES.credentials,
    );
  });

  it('interface 2.1: one character is enough for a name and a password', async () => {
    await register({ fullname: 'A', password: 'p' }).expect(201);
  });

  it.each([
    'plain',
    '@example.com',
    'a@',
    'a@b',
    'a b@example.com',
    'a@example..com',
    'a@example.com, b@example.com',
    'Ayu <ayu@example.com>',
    'a@exa mple.com',
    `${'a'.repeat(65)}@example.com`,
    '"a\r\nBcc: b@example.com"@example.com',
    '"a\tb"@example.com',
    'a@example.com\nBcc: b@example.com',
  ])('interface 4.1: %j is no e-mail address', async (email) => {
    expectFailure(await register({ email }), 400, MESSAGES.validation, {
      email: 'your email format is invalid',
    });
  });

  it.each(["o'brien+bakery@example.co.id", 'böcker@exämple.com', 'A.B-C_d@sub.example.com'])(
    'interface 4.1: %s is an e-mail address',
    async (email) => {
      const response = await register({ email });
      expect(response.status).toBe(201);
      expect(response.body).toMatchObject({ data: { user: { email } } });
    },
  );

  it('interface 4.1: the confirmation must equal the password exactly', async () => {
    for (const passwordConfirmation of ['Kue lapis legit', `${PASSWORD} `, 'x'])
      expectFailure(await register({ passwordConfirmation }), 400, MESSAGES.validation, {
        passwordConfirmation: 'password confirmation does not match',
      });
  });

  it('decisions, Answers: the longest e-mail, name and password are taken and serve to sign in', async () => {
    const email = emailOfLength(254);
    const password = 'ß'.repeat(1024);
    const client = service.client();
    await register({ email, fullname: '名'.repeat(255), password }, client).expect(201);
    await client.get('/api/users').expect(200);
    await service.client().post('/api/login').send({ email, password }).expect(200);
  });

  it('decisions, Answers: one character more than the longest is refused', async () => {
    const tooLong = { email: emailOfLength(255), fullname: 'n'.repeat(256), password: 'p'.repeat(1025) };
    expectFailure(await register(tooLong), 400, MESSAGES.validation, {
      email: 'email can have 254 characters at max',
      fullname: 'fullname can have 255 characters at max',
      password: 'password can have 1024 characters at max',
    });
  });

  it('interface 5: cookies of the longest claims stay under the 4096 bytes that a browser keeps', async () => {
    // A control character takes six bytes in JSON, more than any other.
    const client = service.client();
    const response = await register(
      { email: emailOfLength(254, 'c'), fullname: `a${'\u0001'.repeat(253)}b` },
      client,
    );
    expect(response.status).toBe(201);
    for (const { name, value } of cookiesOf(response))
      expect(name.length + 1 + value.length).toBeLessThan(4096);
    await client.get('/api/users').expect(200);
  });

  it.each(['email', 'fullname', 'password'])('decisions, Answers: U+0000 in %s is refused', async (field) => {
    const values: Record<string, string> = { email: freshEmail(), fullname: 'Ayu', password: PASSWORD };
    const value = `a\0${values[field] ?? ''}`;
    const response = await register({
      ...values,
      [field]: value,
      ...(field === 'password' && { passwordConfirmation: value }),
    });
    expect(response.status).toBe(400);
    const { errors } = response.body as { errors: { message: string; details: object } };
    expect(errors.message).toBe('validation error');
    expect(Object.keys(errors.details)).toEqual([field]);
  });

  it('interface 4.1: a name may hold any script, and an unpaired surrogate breaks nothing', async () => {
    const fullname = 'Ayu 👩‍🍳 アユ עיו "\\';
    const response = await register({ fullname });
    expect(response.body).toMatchObject({ data: { user: { fullname } } });
    expect(claimsOf(cookiesOf(response)[0]?.value ?? '')).toMatchObject({ fullname });
    const surrogate = await service
      .client()
      .post('/api/register')
      .set('Content-Type', 'application/json')
      .send(
        `{"email":"${freshEmail()}","fullname":"a\\ud800","password":"\\udfff","passwordConfirmation":"\\udfff"}`,
      );
    expect(surrogate.status).toBe(201);
  });
});

describe('a second registration with one e-mail', () => {
  it('decisions, Accounts: answers 409, sets no cookie and leaves the first as it was', async () => {
    const email = freshEmail();
    await register({ email, password: 'the first' }).expect(201);
    const second = await register({ email, password: 'the second', fullname: 'Somebody else' });
    expectFailure(second, 409, MESSAGES.emailTaken);
    expect(cookiesOf(second)).toEqual([]);
    expect((await usersOf(email)).map(({ fullname }) => fullname)).toEqual(['Ayu Lestari']);
    await service.client().post('/api/login').send({ email, password: 'the first' }).expect(200);
  });

  it('decisions, Accounts: an address is unique without regard to case and kept as typed', async () => {
    const response = await register({ email: 'Dewi.SARI@Example.COM' });
    expect(response.body).toMatchObject({ data: { user: { email: 'Dewi.SARI@Example.COM' } } });
    expectFailure(await register({ email: 'dewi.sari@example.com' }), 409, MESSAGES.emailTaken);
    expectFailure(await register({ email: ' DEWI.SARI@EXAMPLE.COM ' }), 409, MESSAGES.emailTaken);
    await register({ email: 'ÀYU@example.com' }).expect(201);
    expectFailure(await register({ email: 'àyu@example.com' }), 409, MESSAGES.emailTaken);
  });

  it('decisions, Accounts: of many at once, in different cases, one is 201 and the others 409', async () => {
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
function emailOfLength(length: number, letter = 'a'): Registration['email'] {
  const start = `${letter.repeat(64)}@${letter.repeat(63)}.${letter.repeat(63)}.`;
  return `${start}${letter.repeat(length - start.length - '.com'.length)}.com`;
}
