import type { Client } from './support/client.js';
import { DatabaseProxy } from './support/database-proxy.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { notification, notify } from './support/notifications.js';
import { startService, type TestService } from './support/service.js';
import { SmtpStandIn } from './support/smtp-stand-in.js';
import { until } from './support/wait.js';

const AYU = { email: 'ayu@example.com', password: 'correct horse battery staple' };

let database: TestDatabase;
let proxy: DatabaseProxy;
let smtp: SmtpStandIn;
let service: TestService;
let ayu: Client;

beforeEach(async () => {
  database = await createDatabase();
  proxy = await DatabaseProxy.start(database.url);
  smtp = await SmtpStandIn.start();
  service = await startService({ database, databaseUrl: proxy.url, settings: { SMTP_URL: smtp.url } });
  ayu = service.client();
  await ayu.register(AYU).expect(201);
  // A job that the database interrupts is tried again seconds later, too late for a test.
  await until('an empty queue', async () => (await jobsInState('true')) === 0);
});

afterEach(async () => {
  // Ends the silent connections: those of the queue have no time-out, and stopping would wait for them.
  await proxy.down();
  await proxy.up();
  await service.stop();
  await proxy.down();
  await smtp.close();
  await database.drop();
});

/** How many jobs there are for which the condition holds. */
async function jobsInState(condition: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM graphile_worker._private_jobs WHERE ${condition}`,
  );
  return rows[0]?.count ?? 0;
}

/** One request of each kind that needs the database, at once; each must be a 503 within the deadline. */
async function expectUnavailable(deadlineMs: number): Promise<void> {
  const start = performance.now();
  const responses = await Promise.all([
    service.client().post('/api/login').send(AYU),
    service.client().register({ email: 'new@example.com' }),
    ayu.get('/api/refresh'),
    ayu.get('/api/products'),
    notify(service, notification()),
  ]);
  expect(performance.now() - start).toBeLessThan(deadlineMs);
  for (const response of responses) {
    expectFailure(response, 503, MESSAGES.unavailable);
    expect(response.headers).not.toHaveProperty('set-cookie');
  }
}

describe('while the database is away', () => {
  it('what needs it is 503 at once, the rest is served, and everything works when it is back', async () => {
    await proxy.down();
    await expectUnavailable(5000);
    await ayu.get('/api/users').expect(200);
    await ayu.get('/api/health/live').expect(200);
    expectFailure(await service.client().post('/api/login').send({}), 400, MESSAGES.validation, {
      email: 'email is required',
      password: 'password is required',
    });

    // The gateway repeats its notification, but not one that is badly signed.
    await notify(service, notification({ signature_key: '0'.repeat(128) })).expect(403);

    await proxy.up();
    await service.client().post('/api/login').send(AYU).expect(200);
    await notify(service, notification()).expect(404);
    await service.client().register({ email: 'new@example.com' }).expect(201);
    // The queue comes back by itself as well.
    await smtp.waitForMail(({ to }) => to.includes('new@example.com'));
  });

  it('a database that has gone silent is 503 in bounded time, and its connections are replaced', async () => {
    proxy.stall();
    await expectUnavailable(20_000);
    proxy.failOver();
    const start = performance.now();
    await service.client().post('/api/login').send(AYU).expect(200);
    await ayu.get('/api/products').expect(404);
    await service.client().register({ email: 'other@example.com' }).expect(201);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
