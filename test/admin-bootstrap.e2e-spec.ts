import { createDatabase, type TestDatabase } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { ADMIN, startService, type TestService } from './support/service.js';
import { claimsOf } from './support/tokens.js';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
});

afterEach(async () => {
  await database.drop();
});

/** A start of the service on the test's database; stopped again whatever happens. */
async function withService<T>(
  settings: Record<string, string>,
  use: (service: TestService) => Promise<T>,
): Promise<T> {
  const service = await startService({ database, settings });
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

const WITHOUT_ADMIN = { ADMIN_EMAIL: '', ADMIN_PASSWORD: '' };

async function users(): Promise<Record<string, unknown>[]> {
  return (await database.pool.query<Record<string, unknown>>('SELECT * FROM users ORDER BY id')).rows;
}

describe('the administrator of ADMIN_EMAIL and ADMIN_PASSWORD', () => {
  it('decisions, Accounts: is created at start, hashed like any other, and may do what an ADMIN may', async () => {
    await withService({}, async (service) => {
      const client = service.client();
      const response = await client.post('/api/login').send(ADMIN).expect(200);
      expect(response.body).toMatchObject({ data: { user: { email: ADMIN.email, role: 'ADMIN' } } });
      await client.delete('/api/products/1').expect(404);
      const [admin, ...others] = await users();
      expect(others).toEqual([]);
      expect(admin?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      expect(JSON.stringify(service.log)).not.toContain(ADMIN.password);
    });
  });

  it('decisions, Accounts: without the two variables there is none', async () => {
    await withService(WITHOUT_ADMIN, () => Promise.resolve());
    expect(await users()).toEqual([]);
  });

  it('decisions, Accounts: an existing account is raised and keeps its password; its session is over', async () => {
    const password = 'chosen by the owner';
    const tokens = await withService(WITHOUT_ADMIN, async (service) => {
      const client = service.client();
      await client.register({ email: 'ADMIN@bakery.example', fullname: 'The owner', password }).expect(201);
      await client.delete('/api/products/1').expect(403);
      return { access: client.cookie('accessToken'), refresh: client.cookie('refreshToken') };
    });

    await withService({}, async (service) => {
      const [admin, ...others] = await users();
      expect(others).toEqual([]);
      expect(admin).toMatchObject({
        role: 'ADMIN',
        fullname: 'The owner',
        refresh_token_digest: null,
        claims_version: 2,
      });

      const stale = service.client().setCookie('refreshToken', tokens.refresh, '/api/refresh');
      expectFailure(await stale.get('/api/refresh'), 401, MESSAGES.refreshToken);
      expectFailure(await service.client().post('/api/login').send(ADMIN), 400, MESSAGES.credentials);
      const client = service.client();
      await client.post('/api/login').send({ email: ADMIN.email, password }).expect(200);
      expect(claimsOf(client.cookie('accessToken')).role).toBe('ADMIN');
      await client.delete('/api/products/1').expect(404);
    });
  });

  it('decisions, Accounts: a second start changes nothing, so sessions go on', async () => {
    const refreshToken = await withService({}, async (service) =>
      (await service.admin()).cookie('refreshToken'),
    );
    const before = await users();
    await withService({}, async (service) => {
      expect(await users()).toEqual(before);
      await service
        .client()
        .setCookie('refreshToken', refreshToken, '/api/refresh')
        .get('/api/refresh')
        .expect(200);
    });
  });

  it('decisions, Accounts: a changed ADMIN_PASSWORD leaves the password as it is', async () => {
    await withService({}, () => Promise.resolve());
    await withService({ ADMIN_PASSWORD: 'another' }, async (service) => {
      const client = service.client();
      expectFailure(
        await client.post('/api/login').send({ email: ADMIN.email, password: 'another' }),
        400,
        MESSAGES.credentials,
      );
      await client.post('/api/login').send(ADMIN).expect(200);
    });
  });

  it('decisions, Accounts: services that start at once create it once', async () => {
    const services = await Promise.all([
      startService({ database }),
      startService({ database }),
      startService({ database }),
    ]);
    try {
      expect((await users()).map(({ role }) => role)).toEqual(['ADMIN']);
      for (const service of services) await service.admin();
    } finally {
      await Promise.all(services.map((service) => service.stop()));
    }
  });

  it('decisions, Accounts: services that start at once raise an account once', async () => {
    await withService(WITHOUT_ADMIN, async (service) => {
      await service.client().register({ email: ADMIN.email, password: ADMIN.password }).expect(201);
    });
    const services = await Promise.all([startService({ database }), startService({ database })]);
    try {
      expect(await users()).toMatchObject([{ role: 'ADMIN', claims_version: 2 }]);
    } finally {
      await Promise.all(services.map((service) => service.stop()));
    }
  });
});
