import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { built } from '../support/built.js';
import { embeddedDatabaseUrl } from '../support/embedded-database.js';
import { Client } from '../support/client.js';
import { ExternalPostgres } from '../support/external-postgres.js';
import type { BuiltProcess } from '../support/process.js';
import { until } from '../support/wait.js';
import { isLongForm, record } from './support/figures.js';
import { LivenessWatch } from './support/liveness.js';
import { ExternalServices } from './support/external-services.js';
import { Random } from './support/random.js';
import { ServicePlace } from './support/service-process.js';
import { Workload } from './support/workload.js';

/** So soon after the database's return the service works again, its first mail included. */
const RECOVERY_MS = 5_000;
const ROUNDS = isLongForm ? 8 : 2;

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

it('a kill -9 of the embedded PostgreSQL costs 503 answers for a moment, and nothing that was acknowledged', async () => {
  const topic = 'kill -9 of the embedded PostgreSQL';
  const service = await place.start({ ...external.settings, STAGED_IMAGE_TTL_S: '5' });
  const databaseUrl = (await embeddedDatabaseUrl(place.dataDir)) ?? '';
  await endureLosses(topic, service, databaseUrl, async () => {
    process.kill(await postmasterPid(), 'SIGKILL');
  });
});

it('an external PostgreSQL that is stopped at once and started later costs 503 answers, and nothing that was acknowledged', async () => {
  const topic = 'restart of an external PostgreSQL';
  const random = new Random(topic);
  const postgres = await ExternalPostgres.start();
  try {
    const service = await place.start({
      ...external.settings,
      DATABASE_URL: postgres.url,
      STAGED_IMAGE_TTL_S: '5',
    });
    await endureLosses(topic, service, postgres.url, async () => {
      await postgres.crash();
      await delay(random.between(500, 3_000));
      await postgres.up();
    });
    await place.clear();
  } finally {
    await postgres.close();
  }
});

/** @param lose takes the database away; it may still be away when this returns */
async function endureLosses(
  topic: string,
  service: BuiltProcess,
  databaseUrl: string,
  lose: () => Promise<void>,
): Promise<void> {
  const random = new Random(topic);
  const workload = await Workload.prepare(place.url, external, topic);
  const liveness = new LivenessWatch(place.url);
  const recoveriesMs: number[] = [];
  const mailedAfterMs: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      workload.start();
      await delay(random.between(500, 1_500));
      const lostAt = performance.now();
      await lose();
      // From here on: an embedded one is started by the service itself, an external one by its operator.
      await untilAccepting(databaseUrl);
      const backAt = performance.now();
      record(topic, { 'databases lost': 1, 'database away ms': backAt - lostAt });
      const email = await untilItself(topic, databaseUrl, backAt);
      const recoveryMs = performance.now() - backAt;
      record(topic, { 'itself again after its return ms': recoveryMs });
      recoveriesMs.push(recoveryMs);
      await external.smtp.waitForMail(({ to }) => to.includes(email), RECOVERY_MS * 2);
      const mailedMs = performance.now() - backAt;
      record(topic, { '  first registration mailed after ms': mailedMs });
      mailedAfterMs.push(mailedMs);
      await workload.stop();
    }
    // Each is bounded by twice as much in `untilItself`: a machine that stands still for a moment is not the service.
    expect(mean(recoveriesMs)).toBeLessThan(RECOVERY_MS);
    expect(mean(mailedAfterMs)).toBeLessThan(RECOVERY_MS);
  } finally {
    await workload.stop();
    await liveness.stop();
  }
  record(topic, { 'liveness probes': liveness.probes, 'slowest liveness probe ms': liveness.slowestMs });
  expect(liveness.failures).toEqual([]);
  expect(service.child.exitCode).toBeNull();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  try {
    await workload.verify(topic, { pool }, ROUNDS, () => place.output());
    if (isLongForm) await untilClockRuns(pool);
  } finally {
    await pool.end();
  }
  // Otherwise nothing was lost in the middle of anything.
  expect(workload.observer.refused).toBeGreaterThan(0);
  expectOnlyLogLines(service);
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

async function untilAccepting(databaseUrl: string): Promise<void> {
  await until('the database accepts connections', () => asks(databaseUrl, 'SELECT 1'), 60_000);
}

/**
 * Itself: ready, registering, and the queue listening.
 * @returns the address that was registered
 */
async function untilItself(topic: string, databaseUrl: string, since: number): Promise<string> {
  const deadline = RECOVERY_MS * 2;
  const client = new Client(place.url);
  const email = `${randomUUID()}@example.com`;
  const step = async (what: string, isDone: () => Promise<unknown>): Promise<void> => {
    await isDone();
    record(topic, { [`${what} ms`]: performance.now() - since });
  };
  const listening = (application: string, lastQuery: string, count: number) => () =>
    until(
      `${count} connections of ${application} that listen`,
      () =>
        asks(
          databaseUrl,
          `SELECT 1 FROM pg_stat_activity WHERE application_name = '${application}'
           HAVING count(*) FILTER (WHERE query LIKE '${lastQuery}') >= ${count}`,
        ),
      deadline,
    );
  const isReady = async (): Promise<boolean> => (await client.get('/api/health/ready')).status === 200;
  const isRegistered = async (): Promise<boolean> => (await client.register({ email })).status === 201;
  await Promise.all([
    step('  ready after', () => until('ready', isReady, deadline)),
    step('  first registration after', () => until('a registration', isRegistered, deadline)),
    step('  queue listening after', listening('bakery-jobs', 'LISTEN%', 1)),
  ]);
  return email;
}

/** The clock writes down each minute that it saw. */
async function untilClockRuns(pool: pg.Pool): Promise<void> {
  await until(
    'the clock',
    async () => {
      const { rowCount } = await pool.query(
        `SELECT 1 FROM graphile_worker._private_known_crontabs WHERE last_execution > now() - interval '61 s'`,
      );
      return rowCount !== 0;
    },
    90_000,
  );
}

/** Whether the statement finds a row. */
async function asks(databaseUrl: string, statement: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(statement)).rowCount !== 0;
  } catch {
    return false; // Away, or starting.
  } finally {
    // The connection may be broken already.
    await client.end().catch(() => undefined);
  }
}

async function postmasterPid(): Promise<number> {
  const { locateCluster } = await built('src/config/embedded-postgres/cluster.js');
  const { readPidFile } = await built('src/config/embedded-postgres/postmaster.js');
  const claim = await readPidFile(await locateCluster(place.dataDir));
  if (claim?.pid === undefined) throw new Error('no PostgreSQL runs');
  return claim.pid;
}

/** The log holds lines of the service only: nothing that a library prints by itself. */
function expectOnlyLogLines(service: BuiltProcess): void {
  const foreign = service
    .output()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'));
  expect(foreign).toEqual([]);
}
