import type { Response } from 'supertest';
import {
  requestPasswordChange,
  registerAccount,
  createEmail,
  PASSWORD,
  requestResetCode,
  requestPasswordReset,
  signIn,
  SUBJECTS,
  type TestAccount,
} from './support/accounts.js';
import { importBuilt } from './support/built.js';
import { type Client, parseCookies } from './support/client.js';
import { sendDuringTransaction } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { addJob } from './support/jobs.js';
import { type Access, listOperations } from './support/operations.js';
import { placeOrder } from './support/orders.js';
import { createProduct } from './support/products.js';
import { ADMIN, useService } from './support/service.js';
import { inParallel, sortedStatusesOf, until } from './support/wait.js';

const service = await useService();

const { AdminAccountsService } = await importBuilt('src/auth/admin-accounts.service.js');
const admins = service.app.get(AdminAccountsService);

async function grantAdmin(email: string): Promise<void> {
  expect(await admins.changeRole(email, 'ADMIN', { mayBeUnverified: true })).toBe('changed');
}

async function revokeAdmin(email: string): Promise<void> {
  expect(await admins.changeRole(email, 'USER')).toBe('changed');
}

/** Calls all operations with this access that change something, or all that only read. */
async function callAll(client: Client, access: Access, kind: 'changes' | 'reads'): Promise<Response[]> {
  const routes = listOperations(access).filter(({ method }) => (method === 'get') === (kind === 'reads'));
  expect(routes.length).toBeGreaterThan(1);
  return Promise.all(routes.map(async ({ method, path }) => client.clone()[method](path)));
}

describe('an ended session', () => {
  it.each<[string, (account: TestAccount) => PromiseLike<unknown>]>([
    ['a change of password', ({ client }) => requestPasswordChange(client).expect(204)],
    [
      'a reset of the password',
      async ({ email }) => {
        await requestResetCode(service, email).expect(204);
        const otp = await service.waitForCode(email, SUBJECTS.reset);
        await requestPasswordReset(service, { email, otp }).expect(204);
      },
    ],
    [
      'a change of email',
      ({ client }) =>
        client.patch('/api/users').send({ email: createEmail(), password: PASSWORD }).expect(200),
    ],
    ['a change of role', ({ email }) => grantAdmin(email)],
    ['a deletion of the account', ({ id }) => service.database.query(`DELETE FROM users WHERE id = ${id}`)],
    ['a logout', ({ client }) => client.clone().post('/api/logout').expect(204)],
  ])(
    'after %s can read until its access token expires, but can neither change anything nor be refreshed',
    async (_what, end) => {
      const account = await registerAccount(service);
      const old = account.client.clone();
      await end(account);

      await old.get('/api/users').expect(200);
      const validChange = old.patch('/api/users').send({ fullname: 'Thief', password: PASSWORD });
      for (const response of [...(await callAll(old, 'user', 'changes')), await validChange]) {
        expectFailure(response, 401, MESSAGES.missingAccessToken);
        expect(parseCookies(response)).toEqual([]);
      }
      const refreshed = await old.get('/api/refresh');
      expectFailure(refreshed, 401, MESSAGES.invalidRefreshToken);
      expect(parseCookies(refreshed)).toEqual([]);
    },
  );

  it('of an administrator who logged out can read, but cannot change anything', async () => {
    const admin = await service.admin();
    await admin.clone().post('/api/logout').expect(204);
    for (const response of await callAll(admin, 'admin', 'changes'))
      expectFailure(response, 401, MESSAGES.missingAccessToken);
    for (const { status } of await callAll(admin, 'admin', 'reads'))
      expect([200, 400, 404]).toContain(status);
  });
});

it('a revoked administrator immediately loses hidden products, orders of other customers and every operation for administrators, even after a new login', async () => {
  const { email } = await registerAccount(service);
  await grantAdmin(email);
  const admin = await signIn(service, email);
  const { id } = await createProduct(admin);
  const order = await placeOrder(await service.customer(), [{ product_id: id, quantity: 1 }]);
  await admin.put(`/api/admin/products/${id}/availability`).send({ available: false }).expect(200);
  const paths = [`/api/products/${id}`, `/api/orders/${order.order_id}`];
  for (const path of paths) await admin.get(path).expect(200);
  await revokeAdmin(email);
  for (const path of paths) expectFailure(await admin.get(path), 404, MESSAGES.notFound);
  // Checked first, because the login below would drop the refresh token too.
  expectFailure(await admin.get('/api/refresh'), 401, MESSAGES.invalidRefreshToken);
  for (const client of [admin, await signIn(service, email)])
    for (const kind of ['changes', 'reads'] as const)
      for (const response of await callAll(client, 'admin', kind))
        expectFailure(response, 403, MESSAGES.adminOnly);
});

it('if the last two administrators are revoked in parallel, one revocation is rejected', async () => {
  const { email } = await registerAccount(service);
  await service.database.query("UPDATE users SET role = 'USER' WHERE email <> $1", [ADMIN.email]);
  await grantAdmin(email);
  // Each revocation locks all administrators, so the lock of one administrator makes both revocations wait.
  const lockOne = `SELECT FROM users WHERE email = '${ADMIN.email}' FOR UPDATE`;
  const revokeBoth = () =>
    Promise.all([ADMIN.email, email].map((address) => admins.changeRole(address, 'USER')));
  const results = await sendDuringTransaction(service.database, lockOne, revokeBoth, 2);
  expect(results.toSorted()).toEqual(['changed', 'last administrator']);
  expect(await service.database.query("SELECT FROM users WHERE role = 'ADMIN'")).toHaveLength(1);
});

describe('a login', () => {
  it('drops the refresh token of the earlier session by default, and leaves its access token valid', async () => {
    const { client, email } = await registerAccount(service);
    await signIn(service, email);
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.invalidRefreshToken);
    await client.get('/api/users').expect(200);
    await client.post('/api/otp').expect(204);
    await client.patch('/api/users').send({ fullname: 'Ayu W.' }).expect(200);
    // The change of the name gives the earlier session no new refresh token.
    expectFailure(await client.get('/api/refresh'), 401, MESSAGES.invalidRefreshToken);
  });

  it.each([1, 3, 20])(
    'leaves as many refresh tokens as SESSIONS_PER_ACCOUNT=%i allows, even after 50 parallel logins',
    async (limit) => {
      const settings = { SESSIONS_PER_ACCOUNT: String(limit) };
      const other = await useService({ database: service.database, settings });
      const { client, id, email } = await registerAccount(other);
      const clients = await inParallel(50, () => signIn(other, email));
      const refreshed = await Promise.all([client, ...clients].map((each) => each.get('/api/refresh')));
      expect(sortedStatusesOf(refreshed)).toEqual([
        ...Array<number>(limit).fill(200),
        ...Array<number>(51 - limit).fill(401),
      ]);
      const sessions = await other.readSessions(id);
      expect(sessions).toHaveLength(51);
      const withToken = sessions.filter(({ refresh_token_digest: digest }) => digest !== null);
      // The tokens of the latest sessions are left.
      expect(withToken).toEqual(sessions.slice(-limit));
    },
  );
});

it('a login ends the oldest sessions of an account beyond 100, even among 50 parallel logins', async () => {
  const { client, id, email } = await registerAccount(service);
  await service.database.query(
    `INSERT INTO sessions (id, user_id) SELECT gen_random_uuid(), ${id} FROM generate_series(1, 80)`,
  );
  await inParallel(50, () => signIn(service, email));
  expect(await service.readSessions(id)).toHaveLength(100);
  expectFailure(await client.post('/api/otp'), 401, MESSAGES.missingAccessToken);
});

it('the repeated removal of sessions removes only sessions whose tokens have expired', async () => {
  const { query } = service.database;
  const expired = await registerAccount(service);
  const live = await registerAccount(service);
  await signIn(service, live.email);
  // A session expires soon after the last access token that its refresh token can issue (864,000 s + 600 s).
  for (const { seconds } of await service.readSessions(live.id)) expect(seconds).toBeGreaterThan(864_600);
  await query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [expired.id]);
  await addJob(service.database.pool, 'remove-expired-sessions');
  const countExpired = async () => (await service.readSessions(expired.id)).length;
  await until('the expired session is removed', async () => (await countExpired()) === 0);
  expect(await service.readSessions(live.id)).toHaveLength(2);
});
