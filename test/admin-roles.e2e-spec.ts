import { newAccount } from './support/accounts.js';
import { built } from './support/built.js';
import { untilLocked } from './support/databases.js';
import { ADMIN, startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

it('one of two parallel revocations is rejected, so that an administrator remains', async () => {
  const { AdminAccountsService } = await built('src/auth/admin-accounts.service.js');
  const admins = service.app.get(AdminAccountsService);
  const { email } = await newAccount(service);
  expect(await admins.grant(email)).toBe('changed');
  const { pool } = service.database;
  const holder = await pool.connect();
  const revocations: Promise<string>[] = [];
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM users WHERE email = $1 FOR UPDATE', [ADMIN.email]);
    revocations.push(admins.revoke(ADMIN.email));
    await untilLocked(service.database);
    let isSecondDone = false;
    const second = admins.revoke(email).finally(() => (isSecondDone = true));
    revocations.push(second);
    await until('the second revocation waits or is done', async () => {
      const { rowCount } = await pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return isSecondDone || rowCount === 2;
    });
  } finally {
    await holder.query('COMMIT');
    holder.release();
  }
  expect((await Promise.all(revocations)).toSorted()).toEqual(['changed', 'last administrator']);
  expect(await admins.list()).toHaveLength(1);
});
