import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../support/client.js';
import { queryOnce } from '../support/databases.js';
import { findEmbeddedDatabaseUrl, findServerPid } from '../support/embedded-database.js';
import { startExternalPostgres } from '../support/external-postgres.js';
import { measureRunning } from '../support/measure.js';
import { waitUntilReady } from '../support/process.js';
import { until } from '../support/wait.js';
import { Deployment } from './support/deployment.js';
import { isLongRun } from './support/long-run.js';
import { Workload } from './support/workload.js';

/** Limit for the average time from the return of the database until the service sends a mail. */
const RECOVERY_LIMIT_MS = 5_000;
const ROUNDS = isLongRun ? 8 : 2;

let deployment: Deployment;

beforeEach(async () => {
  deployment = await Deployment.create();
});

afterEach(() => deployment.close());

it('a kill -9 of the embedded PostgreSQL causes 503 for a moment and loses no acknowledged change', async () => {
  const [{ dataDir }] = deployment.instances;
  await expectSurvival(async () => {
    const server = await until('a process of PostgreSQL', () => findServerPid(dataDir));
    process.kill(server, 'SIGKILL');
  });
});

it('an immediate stop of an external PostgreSQL causes 503 until its restart and loses no acknowledged change', async () => {
  const postgres = await startExternalPostgres();
  try {
    await expectSurvival(async ({ observer }) => {
      const { responsesWith503 } = observer;
      await postgres.crash();
      await until('a response is 503', () => observer.responsesWith503 > responsesWith503);
      await delay(randomInt(500, 3_000)); // A longer outage also stops the job queue.
      await postgres.up();
    }, postgres.url);
  } finally {
    await deployment.instances[0].stop();
    await postgres.close();
  }
});

/**
 * Loses the database under load, several times. Asserts that the service responds with 503 meanwhile, keeps running, sends
 * mails again within 5 s on average, and loses no acknowledged change.
 * @param loseDatabase stops the database, which may still be unavailable when the function returns
 * @param externalUrl URL of an external database; by default the service has an embedded one
 */
async function expectSurvival(
  loseDatabase: (workload: Workload) => Promise<void>,
  externalUrl?: string,
): Promise<void> {
  const { external } = deployment;
  const [instance] = deployment.instances;
  const service = await instance.start({
    ...external.settings,
    ...(externalUrl !== undefined && { DATABASE_URL: externalUrl }),
  });
  const databaseUrl = await until(
    'the database runs',
    () => externalUrl ?? findEmbeddedDatabaseUrl(instance.dataDir),
  );
  const workload = await Workload.prepare(deployment);
  let recoveryMs = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await workload.runDuring(async () => {
      await workload.waitForWrites(randomInt(20, 100));
      await loseDatabase(workload);
      await until('the database accepts queries', () => acceptsQueries(databaseUrl));
      const mailsBefore = external.smtp.mails.length;
      recoveryMs += (await measureRunning(() => waitUntilRecovered(mailsBefore))).runningMs;
    });
  }
  expect(recoveryMs / ROUNDS).toBeLessThan(RECOVERY_LIMIT_MS);
  expect(service.child.exitCode).toBeNull();
  // Each loss interrupts the only job runner, which may send the mails again that it was sending.
  await workload.verify(databaseUrl, ROUNDS);
  // Without a 503, no request arrived while the database was lost, so the test would prove nothing.
  expect(workload.observer.responsesWith503).toBeGreaterThan(0);
}

/**
 * Waits until the service is ready, accepts a registration and sends a mail. Any mail counts, because the mail of this
 * registration waits behind many others.
 * @param mailsBefore number of mails that had been sent when the database was available again
 */
async function waitUntilRecovered(mailsBefore: number): Promise<void> {
  const [{ url }] = deployment.instances;
  const email = `${randomUUID()}@example.com`;
  await waitUntilReady(url);
  await until('a registration', async () => (await new Client(url).register({ email })).status === 201);
  await until('a mail is sent', () => deployment.external.smtp.mails.length > mailsBefore);
}

function acceptsQueries(databaseUrl: string): Promise<boolean> {
  return queryOnce(databaseUrl, 'SELECT', 1_000).then(
    () => true,
    () => false, // The server is down or still starting.
  );
}
