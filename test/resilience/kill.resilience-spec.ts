import { randomInt } from 'node:crypto';
import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { embeddedDatabaseUrl } from '../support/embedded-database.js';
import { ExternalServices } from './support/external-services.js';
import { isLongForm } from './support/long-form.js';
import { killHard, ServiceInstance } from '../support/service-process.js';
import { Workload } from './support/workload.js';

const ROUNDS = isLongForm ? 24 : 4;

let place: ServiceInstance;
let external: ExternalServices;

beforeEach(async () => {
  place = await ServiceInstance.create();
  external = await ExternalServices.start(place.dataDir);
});

afterEach(async () => {
  await place.clear();
  await external.close();
});

it('a service that is killed at any moment loses no acknowledged change and leaves no partial change', async () => {
  let kills = 0;
  // The host of new images changes between runs. The ledger contains the host of each image.
  const settings = () => ({
    ...external.settings,
    IMAGE_HOST: randomInt(3) === 0 ? 'local' : 'cloudinary',
    STAGED_IMAGE_TTL_S: '5',
  });

  let service = await place.start(settings());
  const workload = await Workload.prepare(place, external);
  for (let round = 0; round < ROUNDS; round += 1) {
    workload.start();
    await delay(randomInt(300, 2_500));
    await killHard(service);
    await workload.stop();
    // Every other round also kills the next process during its start.
    if (round % 2 === 1) {
      const unlucky = place.spawn(settings());
      await delay(randomInt(100, 2_000));
      await killHard(unlucky);
    }
    kills += 1 + (round % 2);
    service = await place.start(settings());
  }

  const connectionString = (await embeddedDatabaseUrl(place.dataDir)) ?? '';
  const pool = new pg.Pool({ connectionString, max: 2 });
  try {
    await workload.verify({ pool }, kills, () => place.output());
  } finally {
    await pool.end();
  }
  expect(workload.acknowledged).toBeGreaterThan(1);
});
