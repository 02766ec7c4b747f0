import { newAccount } from './support/accounts.js';
import { importBuilt } from './support/built.js';
import { inTransaction, waitForLock } from './support/databases.js';
import { ADMIN, useService } from './support/service.js';

const service = await useService();

it('if the last two administrators are revoked in parallel, one revocation is rejected', async () => {
  const { AdminAccountsService } = await importBuilt('src/auth/admin-accounts.service.js');
  const admins = service.app.get(AdminAccountsService);
  const { email } = await newAccount(service);
  expect(await admins.grantAdmin(email, { mayBeUnverified: true })).toBe('changed');
  let revocations: Promise<string>[] = [];
  await inTransaction(service.database, async (holder) => {
    // Each revocation locks all administrators, so the lock of one administrator makes both revocations wait.
    await holder.query('SELECT FROM users WHERE email = $1 FOR UPDATE', [ADMIN.email]);
    revocations = [ADMIN.email, email].map((address) => admins.revokeAdmin(address));
    await waitForLock(service.database, revocations.length);
  });
  expect((await Promise.all(revocations)).toSorted()).toEqual(['changed', 'last administrator']);
  const rows = await service.database.query("SELECT FROM users WHERE role = 'ADMIN'");
  expect(rows).toHaveLength(1);
});
