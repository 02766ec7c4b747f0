import { registerAccount, requestLogin, type TestAccount } from './support/accounts.js';
import { useServiceBehindProxy } from './support/database-proxy.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { readJobs } from './support/jobs.js';
import { measureRunning } from './support/measure.js';
import { buildNotification, sendNotification } from './support/notifications.js';
import { SmtpStandIn } from './support/smtp-stand-in.js';
import { until } from './support/wait.js';

let smtp: SmtpStandIn;
let service: Awaited<ReturnType<typeof useServiceBehindProxy>>;
let ayu: TestAccount;

beforeEach(async () => {
  smtp = await SmtpStandIn.start();
  service = await useServiceBehindProxy({ SMTP_URL: smtp.url });
  ayu = await registerAccount(service);
  // The mail of the registration is sent before a test makes the database unavailable.
  await until('the queue is empty', async () => (await readJobs(service.database.pool)).length === 0);
});

/** Sends five requests in parallel, which all need the database. Each must get 503 within the deadline. */
async function expectUnavailable(deadlineMs: number): Promise<void> {
  const { result: responses, runningMs } = await measureRunning(() =>
    Promise.all([
      requestLogin(service, ayu.email),
      service.client().register({ email: 'new@example.com' }),
      ayu.client.get('/api/refresh'),
      ayu.client.get('/api/products'),
      sendNotification(service, buildNotification()),
    ]),
  );
  expect(runningMs).toBeLessThan(deadlineMs);
  for (const response of responses) {
    expectFailure(response, 503, MESSAGES.unavailable);
    expect(response.headers).not.toHaveProperty('set-cookie');
  }
}

it('while the database is unavailable, requests that need it get 503 within 5 seconds, and the service recovers', async () => {
  await service.proxy.down();
  await expectUnavailable(5000);
  // The access token contains the profile.
  await ayu.client.get('/api/users').expect(200);
  expectInvalid(await service.client().post('/api/login').send({}), {
    email: 'email is required',
    password: 'password is required',
  });

  // A wrong signature is rejected without the database. With a 503, the gateway would retry the notification in vain.
  await sendNotification(service, buildNotification({ signature_key: '0'.repeat(128) })).expect(403);

  await service.proxy.up();
  await requestLogin(service, ayu.email).expect(200);
  // The order is unknown.
  await sendNotification(service, buildNotification()).expect(404);
  await service.client().register({ email: 'new@example.com' }).expect(201);
  // The job queue sends the mail, so the queue has also recovered without a restart.
  await smtp.waitForMail(({ to }) => to.includes('new@example.com'));
});

it('a database that does not respond causes 503 within 20 seconds, and its connections are replaced after a failover', async () => {
  service.proxy.stall();
  await expectUnavailable(20_000);
  service.proxy.failOver(); // The earlier connections stay silent.
  const { runningMs } = await measureRunning(async () => {
    await requestLogin(service, ayu.email).expect(200);
    // The catalog is empty.
    await ayu.client.get('/api/products').expect(404);
    await service.client().register({ email: 'other@example.com' }).expect(201);
  });
  expect(runningMs).toBeLessThan(5000);
});
