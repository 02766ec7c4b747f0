import { createEmail, PASSWORD, requestLogin } from './support/accounts.js';
import { type Client, parseCookies, type Registration } from './support/client.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { useService } from './support/service.js';

const service = await useService();

function register(fields: Partial<Registration>, client: Client = service.client()) {
  return client.register({ email: createEmail(), password: PASSWORD, ...fields });
}

function findUsers(email: string): Promise<Record<string, unknown>[]> {
  return service.database.query<Record<string, unknown>>(
    'SELECT * FROM users WHERE lower(email) = lower($1)',
    [email],
  );
}

describe('POST /api/register', () => {
  it('returns 201 with exactly id, fullname, email and role, and logs the new user in (contract 4.1)', async () => {
    const client = service.client();
    const email = createEmail();
    const response = await register({ email }, client).expect(201);
    const { id } = (response.body as { data: { user: { id: number } } }).data.user;
    expect(Number.isSafeInteger(id) && id > 0).toBe(true);
    const user = { id, fullname: 'Ayu Lestari', email };
    expect(response.body).toEqual({ status: 'success', data: { user: { ...user, role: 'USER' } } });
    const current = await client.get('/api/users').expect(200);
    expect(current.body).toEqual({ status: 'success', data: { user } });
    await client.get('/api/refresh').expect(200);
  });

  it('stores the password as salted argon2id with m=19456, t=2, p=1', async () => {
    const emails = [createEmail(), createEmail()];
    await Promise.all(emails.map((email) => register({ email })));
    const users = (await Promise.all(emails.map(findUsers))).flat();
    const [hash, other] = users.map((user) => String(user.password_hash));
    expect(hash).not.toBe(other); // The salts differ.
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it.each<[name: string, language: string | null, header?: string]>([
    ['id-ID,id;q=0.9,en;q=0.8', 'id'],
    ['de, ID;q=0.2, en-GB;q=0.7', 'en'],
    ['id;q=0, *', null],
    ['de', null],
    ['', null],
    ['of 8 KB', 'en', `;;q=,${'x,'.repeat(4000)}en`],
  ])('with Accept-Language %j stores the language %s', async (name, language, header = name) => {
    const email = createEmail();
    await register({ email }).set('Accept-Language', header).expect(201);
    expect(await findUsers(email)).toMatchObject([{ language }]);
  });

  it('ignores unknown fields', async () => {
    const email = createEmail();
    const unknown = { id: 424_242, role: 'ADMIN', emailVerified: true, emailVerifiedAt: '2020-01-01' };
    await register({ email, ...unknown }).expect(201);
    const [stored] = await findUsers(email);
    expect(stored).toMatchObject({ role: 'USER', email_verified_at: null });
    expect(stored?.id).not.toBe(424_242);
  });
});

const REQUIRED = {
  email: 'email is required',
  fullname: 'fullname is required',
  password: 'password is required',
  passwordConfirmation: 'password confirmation is required',
};
// A blank password counts as missing. A blank confirmation does not: it only has to equal the password.
const { passwordConfirmation: _, ...REQUIRED_NOT_BLANK } = REQUIRED;
const EMAIL = { email: 'your email format is invalid' };
const FULLNAME = { fullname: 'fullname has invalid characters' };
const CONFIRMATION = { passwordConfirmation: 'password confirmation does not match' };
const NOT_ALLOWED = {
  email: 'email contains a character that is not allowed',
  fullname: 'fullname contains a character that is not allowed',
  password: 'password contains a character that is not allowed',
};
const allFields = (value: unknown): object => ({
  email: value,
  fullname: value,
  password: value,
  passwordConfirmation: value,
});

type Rejection = [what: string, fields: object, details: Record<string, string>];
const BAD_EMAILS = [
  'plain',
  'ayu＠example.com', // A full-width @.
  'a@example.com, b@example.com',
  `${'a'.repeat(65)}@example.com`,
  '"a\r\nBcc: b@example.com"@example.com',
  '"victim"@example.com',
  'a\u202eb@example.com',
  'a\u200bb@example.com',
  // Domains that cannot be converted to a domain name in ASCII:
  'a@\u3002',
  'a@exa mple\u3002com',
  'a@example.com/\u3002example',
  'a@１２７。0。0。1',
];
/** Names with control characters and line breaks. The last three change the direction of the text. */
const BAD_NAMES = [
  ...['a\0b', 'Ayu\r\nBcc: b@example.com', 'a\u0085b', 'a\u2028b', 'a\u2029b'],
  ...['a\u202eb', 'a\u2066b', 'a\u061cb'],
];

it.each<Rejection>([
  ...BAD_EMAILS.map((email): Rejection => [`the email ${JSON.stringify(email)}`, { email }, EMAIL]),
  ...BAD_NAMES.map((fullname): Rejection => [`the name ${JSON.stringify(fullname)}`, { fullname }, FULLNAME]),
  ['no fields', allFields(undefined), REQUIRED],
  ['numbers', allFields(7), REQUIRED],
  ['empty fields', allFields(''), REQUIRED],
  ['white space', allFields(' \t'), REQUIRED_NOT_BLANK],
  [
    'too long fields',
    { email: emailOfLength(255), fullname: 'n'.repeat(256), password: 'p'.repeat(1025) },
    {
      email: 'email can have 254 characters at max',
      fullname: 'fullname can have 255 characters at max',
      password: 'password can have 1024 characters at max',
    },
  ],
  ['a lone surrogate', { email: '\ud800@a.co', fullname: '\ud800', password: '\ud800' }, NOT_ALLOWED],
  [
    'the replacement character',
    { email: '\ufffd@a.co', fullname: '\ufffd', password: '\ufffd' },
    NOT_ALLOWED,
  ],
  ['a confirmation in upper case', { passwordConfirmation: PASSWORD.toUpperCase() }, CONFIRMATION],
  ['a confirmation with a space', { passwordConfirmation: `${PASSWORD} ` }, CONFIRMATION],
])(
  'a registration with %s is rejected with one message for each failing field',
  async (_what, fields, details) => {
    expectInvalid(await register(fields), details);
  },
);

describe('the fields of a registration', () => {
  it('are stored trimmed, except for the password', async () => {
    const email = createEmail();
    const password = '  spaces count  ';
    const response = await register({ email: `  ${email}\t`, fullname: ' A ', password }).expect(201);
    expect(response.body).toMatchObject({ data: { user: { email, fullname: 'A' } } });
    await requestLogin(service, email, password).expect(200);
    expectFailure(await requestLogin(service, email, password.trim()), 400, MESSAGES.wrongCredentials);
  });

  it('can have their maximum length, with which the cookies still have less than 4096 bytes, as browsers require', async () => {
    const [email, password] = [emailOfLength(254), '🍞'.repeat(1024)];
    await register({ email, fullname: '🍞'.repeat(255), password }).expect(201);
    for (const { name, value } of parseCookies(await requestLogin(service, email, password).expect(200)))
      expect(name.length + 1 + value.length).toBeLessThan(4096);
  });

  it('can contain letters of any script, punctuation, and emoji with joiners in the full name', async () => {
    for (const fullname of ["D'Arcy-Ñandú Sri Wahyuni, S.Pd.", '山田　太郎', 'أحمد', '👩\u200d🍳'])
      await register({ fullname }).expect(201);
  });
});

describe('an email address with a non-ASCII domain', () => {
  it('is stored with the ASCII form of the domain, and identifies its account in any spelling at login', async () => {
    const response = await register({ email: 'Ayu.Ü@Bücher.example' }).expect(201);
    expect(response.body).toMatchObject({ data: { user: { email: 'Ayu.Ü@xn--bcher-kva.example' } } });
    for (const email of ['ayu.ü@bücher.example', 'AYU.Ü@XN--BCHER-KVA.EXAMPLE', ' ayu.ü@bücher。example '])
      await requestLogin(service, email).expect(200);
  });

  it('cannot be registered if it differs from an existing address only in the kind of full stop', async () => {
    const email = createEmail();
    await register({ email }).expect(201);
    const other = service.client();
    await register({}, other).expect(201);
    for (const dot of ['\u3002', '\uff0e', '\uff61']) {
      const spelling = email.replace('.com', `${dot}com`);
      expectFailure(await register({ email: spelling }), 409, MESSAGES.emailTaken);
      const change = other.patch('/api/users').send({ email: spelling, password: PASSWORD });
      expectFailure(await change, 409, MESSAGES.emailTaken);
      await requestLogin(service, spelling).expect(200);
    }
  });
});

describe('a second registration with the same email', () => {
  it('gets 409 regardless of case, and does not change the first account', async () => {
    const email = 'Dewi.ÀYU@Example.COM';
    const first = await register({ email }).expect(201);
    expect(first.body).toMatchObject({ data: { user: { email } } });
    for (const spelling of [email, 'dewi.àyu@example.com', ' DEWI.ÀYU@EXAMPLE.COM ']) {
      const second = await register({ email: spelling, password: 'the second', fullname: 'Somebody else' });
      expectFailure(second, 409, MESSAGES.emailTaken);
      expect(parseCookies(second)).toEqual([]);
    }
    expect((await findUsers(email)).map(({ fullname }) => fullname)).toEqual(['Ayu Lestari']);
    await requestLogin(service, email).expect(200);
  });

  it('gets 409 even if all registrations arrive in parallel', async () => {
    const spellings = ['race@example.com', 'RACE@example.com', 'Race@Example.com', 'race@EXAMPLE.COM'];
    const emails = [...spellings, ...spellings, ...spellings];
    const responses = await Promise.all(emails.map((email) => register({ email })));
    const rejected = responses.filter(({ status }) => status !== 201);
    expect(rejected).toHaveLength(responses.length - 1);
    for (const response of rejected) expectFailure(response, 409, MESSAGES.emailTaken);
    expect(await findUsers('race@example.com')).toHaveLength(1);
  });
});

/** Returns an address of this length whose parts have valid lengths: at most 64 characters before the @, 63 in a label. */
function emailOfLength(length: number): string {
  const start = `${'a'.repeat(64)}@${'a'.repeat(63)}.${'a'.repeat(63)}.`;
  return `${start}${'a'.repeat(length - start.length - '.com'.length)}.com`;
}
