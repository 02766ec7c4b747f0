import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { built } from '../support/built.js';
import type { BuiltProcess } from '../support/process.js';
import { isLongForm, record } from './support/figures.js';
import { Neighbours } from './support/neighbours.js';
import { Random } from './support/random.js';
import { killHard, ServicePlace } from './support/service-process.js';
import { Workload } from './support/workload.js';

const TOPIC = 'kill -9 of the service';
const ROUNDS = isLongForm ? 24 : 4;

let place: ServicePlace;
let neighbours: Neighbours;

beforeEach(async () => {
  place = await ServicePlace.prepare();
  neighbours = await Neighbours.start(place.dataDir, new Random('neighbours'));
});

afterEach(async () => {
  await place.clear();
  await neighbours.close();
});

it('crashes: whatever moment the service is killed at, nothing acknowledged is lost and nothing half done stays', async () => {
  const random = new Random('kills');
  let kills = 0;
  /** The host of new images changes from run to run; the ledger knows where each one is. */
  const start = async (): Promise<BuiltProcess> => {
    const settings = {
      ...neighbours.settings,
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
  const workload = await Workload.prepare(place.url, neighbours, 'kill');
  for (let round = 0; round < ROUNDS; round += 1) {
    workload.start();
    await delay(random.between(300, 2_500));
    await killHard(service);
    kills += 1;
    await workload.stop();
    service = await start();
    expect(service.output()).toContain('took over the server of an earlier run');
  }
  record(TOPIC, { kills });

  const { runningPostgresUrl } = await built('src/config/embedded-postgres.js');
  const pool = new pg.Pool({ connectionString: await runningPostgresUrl(place.dataDir), max: 2 });
  try {
    await workload.verify(TOPIC, { pool }, kills, () => place.output());
  } finally {
    await pool.end();
  }
  const { orders, creates } = workload.acknowledged;
  // A run in which little was acknowledged proves little.
  expect(Math.min(orders, creates)).toBeGreaterThan(isLongForm ? ROUNDS : 1);
});
