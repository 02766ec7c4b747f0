import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { findEmbeddedDatabaseUrl } from '../support/embedded-database.js';
import { killHard } from '../support/service-process.js';
import { until } from '../support/wait.js';
import { Deployment } from './support/deployment.js';
import { isLongRun } from './support/long-run.js';
import { Workload } from './support/workload.js';

const ROUNDS = isLongRun ? 24 : 4;

let deployment: Deployment;

beforeEach(async () => {
  deployment = await Deployment.create();
});

afterEach(() => deployment.close());

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
