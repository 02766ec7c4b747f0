import { requestLogin, signIn } from './support/accounts.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { ADMIN, type ServiceOptions, useService } from './support/service.js';

const OWN_PASSWORD = 'chosen by the owner';

let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
});

/** Registers the address of ADMIN_EMAIL, in another letter case, while the service runs without this setting. */
async function registerOwner({ isVerified }: { readonly isVerified: boolean }): Promise<void> {
  const service = await useService({ database, settings: { ADMIN_EMAIL: '', ADMIN_PASSWORD: '' } });
  const client = service.client();
  const email = ADMIN.email.replace('admin', 'ADMIN');
  await client.register({ email, fullname: 'The owner', password: OWN_PASSWORD }).expect(201);
  const otp = await service.waitForCode(email);
  if (isVerified) await client.post('/api/otp/verify').send({ otp }).expect(200);
  await service.stop();
}

const readUsers = () => database.query('SELECT * FROM users ORDER BY id');

it('a start warns only if there is no administrator, and says how to get one', async () => {
  const readWarnings = async (settings: ServiceOptions['settings'] = {}) => {
    const { log, stop } = await useService({ database, settings });
    await stop();
    return log.filter(({ msg }) => String(msg).startsWith('there is no administrator'));
  };
  const unset = { ADMIN_EMAIL: '', ADMIN_PASSWORD: '' };
  const msg =
    'there is no administrator: set ADMIN_EMAIL and ADMIN_PASSWORD, or register an account, verify its email ' +
    'address and run: npm run admin -- grant EMAIL';
  expect(await readWarnings(unset)).toMatchObject([{ level: 'warn', msg }]);
  expect(await readWarnings()).toEqual([]); // This start creates the administrator.
  expect(await readWarnings(unset)).toEqual([]);
});

describe('the account of ADMIN_EMAIL', () => {
  it('becomes an administrator with its own password if it exists with a verified email, and its sessions end', async () => {
    await registerOwner({ isVerified: true });
    const service = await useService({ database });
    expect(await readUsers()).toMatchObject([{ role: 'ADMIN', fullname: 'The owner' }]);
    expect(await database.query('SELECT FROM sessions')).toEqual([]);
    expectFailure(await service.client().post('/api/login').send(ADMIN), 400, MESSAGES.wrongCredentials);
    const client = await signIn(service, ADMIN.email, OWN_PASSWORD);
    await client.delete('/api/products/1').expect(404);
  });

  it('stays a customer if its email is not verified, with a warning that names the command to grant the role', async () => {
    await registerOwner({ isVerified: false });
    const before = await readUsers();
    const service = await useService({ database });
    expect(await readUsers()).toEqual(before);
    const warnings = service.log.filter(({ level }) => level === 'warn');
    expect(JSON.stringify(warnings)).toContain('npm run admin -- grant');
    const client = await signIn(service, ADMIN.email, OWN_PASSWORD);
    expectFailure(await client.delete('/api/products/1'), 403, MESSAGES.adminOnly);
  });

  it('does not change at a second start, even with another ADMIN_PASSWORD', async () => {
    const first = await useService({ database });
    const admin = await first.admin();
    await first.stop();
    const before = await readUsers();
    const service = await useService({ database, settings: { ADMIN_PASSWORD: 'another' } });
    expect(await readUsers()).toEqual(before);
    await admin.clone(service.url).get('/api/refresh').expect(200);
    expectFailure(await requestLogin(service, ADMIN.email, 'another'), 400, MESSAGES.wrongCredentials);
    await signIn(service, ADMIN.email, ADMIN.password);
  });
});
