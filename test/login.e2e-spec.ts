import { cookiesOf } from './support/client.js';
import { untilLocked } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { startService, type TestService } from './support/service.js';
import { claimsOf } from './support/tokens.js';

const AYU = { email: 'Ayu@example.com', fullname: 'Ayu Lestari', password: 'kue lapis legit' } as const;

let service: TestService;
let ayuId: number;

beforeAll(async () => {
  service = await startService();
  const response = await service.client().register(AYU).expect(201);
  ayuId = (response.body as { data: { user: { id: number } } }).data.user.id;
});

afterAll(() => service.stop());

function login(fields: object) {
  return service.client().post('/api/login').send(fields);
}

describe('a login', () => {
  it('answers the user under users and, with its role, under user, and sets both cookies (contract 4.2)', async () => {
    const client = service.client();
    const unknown = { role: 'ADMIN', id: 1, fullname: 'Eve' };
    const response = await client.post('/api/login').send({ ...AYU, ...unknown });
    const user = { id: ayuId, fullname: AYU.fullname, email: AYU.email };
    expect(response.body).toEqual({
      status: 'success',
      data: { users: user, user: { ...user, role: 'USER' } },
    });
    expect(response.status).toBe(200);
    expect(cookiesOf(response).map(({ name }) => name)).toEqual(['accessToken', 'refreshToken']);
    await client.get('/api/users').expect(200);
    await client.get('/api/refresh').expect(200);
  });

  it('finds the account in any case of its e-mail, which is answered as it was registered', async () => {
    const response = await login({ email: ' aYU@EXAMPLE.com ', password: AYU.password }).expect(200);
    expect(response.body).toMatchObject({ data: { users: { email: AYU.email } } });
  });

  it('eight at once leave exactly one session', async () => {
    const clients = Array.from({ length: 8 }, () => service.client());
    await Promise.all(clients.map((client) => client.post('/api/login').send(AYU).expect(200)));
    const responses = await Promise.all(clients.map((client) => client.get('/api/refresh')));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401, 401, 401]);
  });
});

describe('a login that is refused', () => {
  const required = { email: 'email is required', password: 'password is required' };

  it.each([
    ['without fields', {}, required],
    [
      'with a malformed e-mail and an empty password',
      { email: 'ayu', password: '' },
      { email: 'your email format is invalid', password: 'password is required' },
    ],
  ])('%s: 400 with a detail for each field', async (_what, fields, details) => {
    const response = await login(fields);
    expectFailure(response, 400, MESSAGES.validation, details);
    expect(cookiesOf(response)).toEqual([]);
  });

  it('an unknown e-mail and a wrong password are not told apart, and the session goes on', async () => {
    const owner = service.client();
    await owner.post('/api/login').send(AYU).expect(200);
    const unknown = await login({ email: 'nobody@example.com', password: AYU.password });
    const wrong = await login({ email: AYU.email, password: 'Kue lapis legit' });
    for (const response of [unknown, wrong]) {
      expectFailure(response, 400, MESSAGES.credentials);
      expect(cookiesOf(response)).toEqual([]);
    }
    const withoutVariables = ({ headers }: typeof wrong) => {
      return { ...(headers as Record<string, string>), 'x-request-id': '', date: '' };
    };
    expect(withoutVariables(unknown)).toEqual(withoutVariables(wrong));
    await owner.get('/api/refresh').expect(200);
  });

  it('an unknown e-mail costs a hash, as a wrong password does', async () => {
    const times = { 'nobody@example.com': [] as number[], [AYU.email]: [] as number[] };
    for (let round = 0; round < 9; round += 1) {
      for (const [email, of] of Object.entries(times)) {
        const start = performance.now();
        await login({ email, password: 'wrong' }).expect(400);
        of.push(performance.now() - start);
      }
    }
    const [unknown = 0, wrong = 0] = Object.values(times).map((of) => of.sort((a, b) => a - b)[4]);
    // The hash alone is 14 ms of one core; without it an unknown e-mail would answer in a fraction of the time.
    expect(unknown).toBeGreaterThan(wrong * 0.4);
  });

  it('characters of SQL and LIKE in an e-mail match no account', async () => {
    for (const email of ['%@example.com', "'or'1'='1@example.com", 'ay_@example.com'])
      expectFailure(await login({ email, password: AYU.password }), 400, MESSAGES.credentials);
  });
});

describe('a login while the account is being changed', () => {
  /** Logs in so that the change commits between the check of the password and the start of the session. */
  async function loginDuring(change: string) {
    const holder = await service.database.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(`UPDATE users SET ${change} WHERE id = $1`, [ayuId]);
      const answer = login({ email: AYU.email, password: AYU.password }).then((response) => response);
      await untilLocked(service.database);
      await holder.query('COMMIT');
      return await answer;
    } finally {
      holder.release();
    }
  }

  it('claims the new role, not the one that was read', async () => {
    const response = await loginDuring("role = 'ADMIN'");
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ data: { user: { role: 'ADMIN' } } });
    for (const { value } of cookiesOf(response)) expect(claimsOf(value).role).toBe('ADMIN');
    await service.database.pool.query("UPDATE users SET role = 'USER' WHERE id = $1", [ayuId]);
  });

  it('is refused when the password was changed meanwhile', async () => {
    const { rows } = await service.database.pool.query<{ password_hash: string }>(
      'SELECT password_hash FROM users WHERE email = $1',
      ['admin@bakery.example'],
    );
    const response = await loginDuring(`password_hash = '${rows[0]?.password_hash ?? ''}'`);
    expectFailure(response, 400, MESSAGES.credentials);
    expect(cookiesOf(response)).toEqual([]);
  });
});
