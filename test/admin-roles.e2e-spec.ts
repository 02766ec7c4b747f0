import { newAccount } from './support/accounts.js';
import { built } from './support/built.js';
import { inTransaction, waitForLock } from './support/databases.js';
import { ADMIN, useService } from './support/service.js';
import { until } from './support/wait.js';

const service = useService();

it('one of two parallel revocations of the role ADMIN is rejected, so that an administrator remains', async () => {
  const { AdminAccountsService } = await built('src/auth/admin-accounts.service.js');
  const admins = service.app.get(AdminAccountsService);
  const { email } = await newAccount(service);
  expect(await admins.changeRole(email, 'ADMIN')).toBe('changed');
  const revocations: Promise<string>[] = [];
  await inTransaction(service.database, async (holder) => {
    await holder.query('SELECT FROM users WHERE email = $1 FOR UPDATE', [ADMIN.email]);
    revocations.push(admins.changeRole(ADMIN.email, 'USER'));
    await waitForLock(service.database);
    let isSecondDone = false;
    revocations.push(admins.changeRole(email, 'USER').finally(() => (isSecondDone = true)));
    await until('the second revocation waits or is done', async () => {
      const { rowCount } = await service.database.pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return isSecondDone || rowCount === 2;
    });
  });
  expect((await Promise.all(revocations)).toSorted()).toEqual(['changed', 'last administrator']);
  const { rowCount } = await service.database.pool.query("SELECT FROM users WHERE role = 'ADMIN'");
  expect(rowCount).toBe(1);
});
