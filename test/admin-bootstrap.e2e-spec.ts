import { waitForCode, signIn } from './support/accounts.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { ADMIN, type TestService, withService } from './support/service.js';

const WITHOUT_ADMIN = { ADMIN_EMAIL: '', ADMIN_PASSWORD: '' };
const OWN_PASSWORD = 'chosen by the owner';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
});

afterEach(() => database.drop());

/** Runs the service on the database of the test. */
function withSettings<T>(
  settings: Record<string, string>,
  act: (service: TestService) => Promise<T>,
): Promise<T> {
  return withService({ database, settings }, act);
}

/** Registers the address of ADMIN_EMAIL in another letter case while the service runs without this setting. */
async function registerFirst({ isVerified }: { readonly isVerified: boolean }): Promise<void> {
  await withSettings(WITHOUT_ADMIN, async (service) => {
    const client = service.client();
    const email = 'ADMIN@bakery.example';
    await client.register({ email, fullname: 'The owner', password: OWN_PASSWORD }).expect(201);
    const otp = await waitForCode(service, email);
    if (isVerified) await client.post('/api/otp/verify').send({ otp }).expect(200);
  });
}

async function readUsers(): Promise<Record<string, unknown>[]> {
  return (await database.pool.query<Record<string, unknown>>('SELECT * FROM users ORDER BY id')).rows;
}

describe('the account of ADMIN_EMAIL', () => {
  it('is created at start with a hashed password and the role ADMIN', async () => {
    await withSettings({}, async (service) => {
      await (await service.admin()).delete('/api/products/1').expect(404); // Customers get 403.
      expect(await readUsers()).toMatchObject([{ role: 'ADMIN' }]);
      expect(JSON.stringify(service.log)).not.toContain(ADMIN.password);
    });
  });

  it('is promoted if it exists with a verified e-mail; the password stays and the session ends', async () => {
    await registerFirst({ isVerified: true });
    await withSettings({}, async (service) => {
      expect(await readUsers()).toMatchObject([{ role: 'ADMIN', fullname: 'The owner' }]);
      expect((await database.pool.query('SELECT FROM sessions')).rowCount).toBe(0);
      expectFailure(await service.client().post('/api/login').send(ADMIN), 400, MESSAGES.credentials);
      const client = await signIn(service, ADMIN.email, OWN_PASSWORD);
      await client.delete('/api/products/1').expect(404);
    });
  });

  it('does not change if it exists with an unverified e-mail; a warning names the command to use', async () => {
    await registerFirst({ isVerified: false });
    const before = await readUsers();
    await withSettings({}, async (service) => {
      expect(await readUsers()).toEqual(before);
      const warnings = service.log.filter(({ level }) => level === 'warn');
      expect(JSON.stringify(warnings)).toContain('npm run admin -- grant');
      const client = await signIn(service, ADMIN.email, OWN_PASSWORD);
      expectFailure(await client.delete('/api/products/1'), 403, MESSAGES.adminOnly);
    });
  });

  it('does not change at a second start, even with another ADMIN_PASSWORD', async () => {
    const refreshToken = await withSettings({}, async (service) =>
      (await service.admin()).cookie('refreshToken'),
    );
    const before = await readUsers();
    await withSettings({ ADMIN_PASSWORD: 'another' }, async (service) => {
      expect(await readUsers()).toEqual(before);
      const client = service.client().setCookie('refreshToken', refreshToken, '/api/refresh');
      await client.get('/api/refresh').expect(200);
      const login = service.client().post('/api/login').send({ email: ADMIN.email, password: 'another' });
      expectFailure(await login, 400, MESSAGES.credentials);
      await service.admin();
    });
  });
});
