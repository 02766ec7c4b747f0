import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { embeddedDatabaseUrl } from '../support/embedded-database.js';
import type { BuiltProcess } from '../support/process.js';
import { isLongForm, record } from './support/figures.js';
import { ExternalServices } from './support/external-services.js';
import { Random } from './support/random.js';
import { killHard, ServicePlace } from './support/service-process.js';
import { Workload } from './support/workload.js';

const TOPIC = 'kill -9 of the service';
const ROUNDS = isLongForm ? 24 : 4;

let place: ServicePlace;
let external: ExternalServices;

beforeEach(async () => {
  place = await ServicePlace.prepare();
  external = await ExternalServices.start(place.dataDir, new Random('external services'));
});

afterEach(async () => {
  await place.clear();
  await external.close();
});

it('a service that is killed at any moment loses nothing that it acknowledged, and leaves nothing half done', async () => {
  const random = new Random('kills');
  let kills = 0;
  /** The host of new images changes from run to run; the ledger knows where each one is. */
  const start = async (): Promise<BuiltProcess> => {
    const settings = {
      ...external.settings,
      IMAGE_HOST: random.chance(0.7) ? 'cloudinary' : 'local',
      STAGED_IMAGE_TTL_S: '5',
    };
    if (kills > 0 && random.chance(0.25)) {
      const unlucky = place.spawn(settings);
      await delay(random.between(100, 2_000));
      await killHard(unlucky);
      kills += 1;
    }
    const began = performance.now();
    const service = await place.start(settings);
    if (kills > 0) record(TOPIC, { 'restart until it answers ms': performance.now() - began });
    return service;
  };

  let service = await start();
  const workload = await Workload.prepare(place.url, external, 'kill');
  for (let round = 0; round < ROUNDS; round += 1) {
    workload.start();
    await delay(random.between(300, 2_500));
    await killHard(service);
    kills += 1;
    await workload.stop();
    service = await start();
  }
  record(TOPIC, { kills });

  const connectionString = (await embeddedDatabaseUrl(place.dataDir)) ?? '';
  const pool = new pg.Pool({ connectionString, max: 2 });
  try {
    await workload.verify(TOPIC, { pool }, kills, () => place.output());
  } finally {
    await pool.end();
  }
  const { orders, creates } = workload.acknowledged;
  // A run in which little was acknowledged proves little.
  expect(Math.min(orders, creates)).toBeGreaterThan(isLongForm ? ROUNDS : 1);
});
