import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmail } from './support/accounts.js';
import { importBuilt } from './support/built.js';
import { countLockWaits, beginTransaction, waitForLock } from './support/databases.js';
import { createPng } from './support/pictures.js';
import { createProduct } from './support/products.js';
import { useService } from './support/service.js';
import { inParallel } from './support/wait.js';

const service = await useService();

it('while every check of a password waits, an image is served: the checks leave one thread to files', async () => {
  const product = await createProduct(await service.admin(), [{ bytes: createPng(), name: 'cake.png' }]);
  const { pathname } = new URL(product.images[0] ?? '');
  const { ClientTurns } = await importBuilt('src/auth/client-turns.js');
  const turns = service.app.get(ClientTurns);
  const pipe = join(service.dataDir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  // Opening a pipe for reading blocks a thread, as a hash does, until the pipe is opened for writing.
  const occupyThread = async () => (await open(pipe)).close();
  const client = { clientAddress: '192.0.2.1' };
  const checks = Array.from({ length: 100 }, () => turns.runPasswordTask(client, occupyThread));
  let hasLoginEnded = false;
  const body = { email: 'nobody@example.com', password: 'x' };
  const login = service
    .client()
    .post('/api/login')
    .send(body)
    .then(() => (hasLoginEnded = true));
  try {
    await service.client().get(pathname).timeout(30_000).expect(200);
    expect(hasLoginEnded).toBe(false);
  } finally {
    const writer = openSync(pipe, 'r+');
    await Promise.all([...checks, login]);
    closeSync(writer);
  }
});

it('registrations that wait for a lock leave connections to other requests, even if 30 arrive at once', async () => {
  await service.customer(); // Creates the count of mails that the registrations wait for.
  const lock = "SELECT FROM attempt_counts WHERE key LIKE 'mails-of:%' FOR UPDATE";
  const { commit } = await beginTransaction(service.database, lock);
  const registrations = inParallel(30, () => service.client().register({ email: createEmail() }));
  await waitForLock(service.database, 3);
  // Passwords are hashed in turn, so this one is checked after those of the registrations.
  const login = service.client().post('/api/login').send({ email: 'nobody@example.com', password: 'x' });
  await login.timeout(30_000).expect(400);
  expect(await countLockWaits(service.database)).toBe(3);
  await commit();
  await registrations;
});
