import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { embeddedDatabaseUrl, findServerPid } from '../support/embedded-database.js';
import { Client } from '../support/client.js';
import { startExternalPostgres } from '../support/external-postgres.js';
import type { BuiltProcess } from '../support/process.js';
import { until } from '../support/wait.js';
import { ExternalServices } from './support/external-services.js';
import { isLongForm } from './support/long-form.js';
import { ServiceInstance } from '../support/service-process.js';
import { Workload } from './support/workload.js';

/** Average time from the return of the database until the service sends a mail. */
const RECOVERY_MS = 5_000;
const ROUNDS = isLongForm ? 8 : 2;

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

it('a kill -9 of the embedded PostgreSQL causes 503 for a moment and loses no acknowledged change', async () => {
  const service = await place.start({ ...external.settings, STAGED_IMAGE_TTL_S: '5' });
  await endureLosses(service, (await embeddedDatabaseUrl(place.dataDir)) ?? '', async () => {
    process.kill((await findServerPid(place.dataDir)) ?? 0, 'SIGKILL');
  });
});

it('an immediate stop of an external PostgreSQL causes 503 until its restart and loses no acknowledged change', async () => {
  const postgres = await startExternalPostgres();
  try {
    const settings = { ...external.settings, DATABASE_URL: postgres.url, STAGED_IMAGE_TTL_S: '5' };
    await endureLosses(await place.start(settings), postgres.url, async () => {
      await postgres.crash();
      await delay(randomInt(500, 3_000));
      await postgres.up();
    });
    await place.clear();
  } finally {
    await postgres.close();
  }
});

/** @param lose stops the database, which may still be unavailable when the function returns */
async function endureLosses(
  service: BuiltProcess,
  databaseUrl: string,
  lose: () => Promise<void>,
): Promise<void> {
  const workload = await Workload.prepare(place, external);
  let recoveryMs = 0;
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      workload.start();
      await delay(randomInt(500, 1_500));
      await lose();
      // The service restarts an embedded server itself. An operator restarts an external one.
      await until(
        'the database accepts connections',
        () => whileLive(acceptsConnections(databaseUrl)),
        60_000,
      );
      const backAt = performance.now();
      await waitUntilRecovered(external.smtp.mails.length);
      recoveryMs += performance.now() - backAt;
      await workload.stop();
    }
  } finally {
    await workload.stop();
  }
  expect(recoveryMs / ROUNDS).toBeLessThan(RECOVERY_MS);
  expect(service.child.exitCode).toBeNull();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  try {
    await workload.verify({ pool }, ROUNDS, () => place.output());
  } finally {
    await pool.end();
  }
  // Without rejected requests, the database was never lost during a request.
  expect(workload.observer.refused).toBeGreaterThan(0);
  // The log contains no output of a library.
  expect(service.output()).not.toMatch(/^[^{\n]/m);
}

/** Asserts that the process is alive during a check. */
async function whileLive(check: Promise<boolean>): Promise<boolean> {
  await new Client(place.url).get('/api/health/live').expect(200);
  return check;
}

/**
 * Waits until the service is ready, accepts a registration and sends a mail. Under this load more mails are queued than
 * sent, so another registration may have caused that mail.
 * @param mailsBefore number of mails that had been sent when the database was available again
 */
async function waitUntilRecovered(mailsBefore: number): Promise<void> {
  const client = new Client(place.url);
  const email = `${randomUUID()}@example.com`;
  const isReady = async () => (await client.get('/api/health/ready')).status === 200;
  await until('the service is ready', () => whileLive(isReady()));
  await until('a registration', async () => (await client.register({ email })).status === 201);
  await until('a mail is sent', () => external.smtp.mails.length > mailsBefore);
}

async function acceptsConnections(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false; // The server is down or still starting.
  } finally {
    // The connection may be broken already.
    await client.end().catch(() => undefined);
  }
}
