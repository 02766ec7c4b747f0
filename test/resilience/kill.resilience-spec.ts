import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../support/client.js';
import { queryOnce } from '../support/databases.js';
import { findEmbeddedDatabaseUrl, findServerPid } from '../support/embedded-database.js';
import { measureRunning } from '../support/measure.js';
import { waitUntilReady } from '../support/process.js';
import { killHard } from '../support/service-process.js';
import { until } from '../support/wait.js';
import { createDeployment, type Deployment } from './support/deployment.js';
import { Workload } from './support/workload.js';

/** Limits for the time from the return of the database until the service sends a mail. A busy machine can slow one recovery. */
const RECOVERY_LIMIT_MS = 10_000;
const AVERAGE_RECOVERY_LIMIT_MS = 5_000;
const ROUNDS = 4;
const DATABASE_LOSSES = 2;

let deployment: Deployment;

beforeEach(async () => {
  deployment = await createDeployment();
});

it('a service that is killed at any moment loses no acknowledged change and leaves no partial change', async () => {
  const { external } = deployment;
  const [instance] = deployment.instances;
  // Each start chooses the host of new images at random. The service must find each image at the host that has it.
  const chooseSettings = () => ({
    ...external.settings,
    IMAGE_HOST: randomInt(3) === 0 ? 'local' : 'cloudinary',
  });

  let kills = 0;
  let service = await instance.start(chooseSettings());
  const workload = await Workload.prepare(deployment);
  for (let round = 0; round < ROUNDS; round += 1) {
    await workload.runDuring(async () => {
      await workload.waitForWrites(randomInt(10, 150));
      await delay(randomInt(500)); // Otherwise each kill would follow a response.
      await killHard(service);
      kills += 1;
    });
    // Every other round also kills a service that is starting.
    if (round % 2 === 1) {
      const starting = instance.spawn(chooseSettings());
      await delay(randomInt(100, 2_000));
      await killHard(starting);
      kills += 1;
    }
    service = await instance.start(chooseSettings());
  }

  const databaseUrl = await until('the database runs', () => findEmbeddedDatabaseUrl(instance.dataDir));
  // Each kill may have caused duplicates of the mails that were being sent.
  await workload.verify(databaseUrl, kills);
  // If one of the clients made hardly any changes, the test would prove little.
  expect(workload.acknowledgedCountOfLeastActive).toBeGreaterThan(1);
});

it('a kill -9 of the embedded PostgreSQL causes 503 for a moment and loses no acknowledged change', async () => {
  const { external } = deployment;
  const [instance] = deployment.instances;
  const service = await instance.start(external.settings);
  const databaseUrl = await until('the database runs', () => findEmbeddedDatabaseUrl(instance.dataDir));
  const workload = await Workload.prepare(deployment);
  let totalMs = 0;
  for (let round = 0; round < DATABASE_LOSSES; round += 1) {
    await workload.runDuring(async () => {
      await workload.waitForWrites(randomInt(20, 100));
      const server = await until('a process of PostgreSQL', () => findServerPid(instance.dataDir));
      process.kill(server, 'SIGKILL');
      await until('the database accepts queries', () => acceptsQueries(databaseUrl));
      const mailsBefore = external.smtp.mails.length;
      const { runningMs } = await measureRunning(() => waitUntilRecovered(mailsBefore));
      expect(runningMs).toBeLessThan(RECOVERY_LIMIT_MS);
      totalMs += runningMs;
    });
  }
  expect(totalMs / DATABASE_LOSSES).toBeLessThan(AVERAGE_RECOVERY_LIMIT_MS);
  expect(service.child.exitCode).toBeNull();
  // Each loss interrupts the only job runner, which may send the mails again that it was sending.
  await workload.verify(databaseUrl, DATABASE_LOSSES);
  // Without a 503, no request arrived while the database was lost, so the test would prove nothing.
  expect(workload.observer.responsesWith503).toBeGreaterThan(0);
});

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
