import { setTimeout as delay } from 'node:timers/promises';
import { createDeployment, type Deployment } from '../resilience/support/deployment.js';
import { Workload } from '../resilience/support/workload.js';
import { describeInstalled } from '../support/installed.js';
import { findFreePort } from '../support/process.js';
import { until } from '../support/wait.js';
import { CLUSTER_PROGRAMS, PatroniCluster } from './support/patroni-cluster.js';
import { startPgBouncer } from './support/pgbouncer.js';

const SECOND_MS = 1000;
/** Longer than `ttl` in patroni.yml, after which the cluster elects another primary. */
const HANG_MS = 35 * SECOND_MS;
const READ_ONLY_MS = 8 * SECOND_MS;
const PROMOTION_LIMIT_MS = 60 * SECOND_MS;
const RECOVERY_LIMIT_MS = 60 * SECOND_MS;
/** Limit for every response, also while the database does not respond. */
const RESPONSE_LIMIT_MS = 15 * SECOND_MS;
/** Longer than RESPONSE_LIMIT_MS, so that the test reports the duration of a late response. */
const REQUEST_TIMEOUT_MS = 20 * SECOND_MS;
/** Pause of each simulated user after a step. All users together send about 25 requests a second. */
const PAUSE_MS = 150;
/**
 * Maximum number of times that one failure interrupts a job runner, for both processes together. An interrupted runner may
 * send the mails again that it was sending.
 */
const RUNNER_INTERRUPTIONS = 4;

const SUBJECT = 'a shop on a highly available PostgreSQL loses no acknowledged write and responds in time';

describeInstalled(SUBJECT, [...CLUSTER_PROGRAMS, 'pgbouncer'], () => {
  let cluster: PatroniCluster;
  let databaseUrl: string;
  let deployment: Deployment;

  beforeAll(async () => (cluster = await PatroniCluster.start()), 120_000);

  beforeEach(async () => {
    databaseUrl = await cluster.createDatabase();
    deployment = await createDeployment(2);
  });

  afterEach(() => cluster.heal());

  /**
   * Causes a failure while two processes are under load. Asserts that both processes recover, that no acknowledged write was
   * lost, and that no response was late.
   * @param gapLimitMs limit for the longest time without an acknowledged write. Generous, because tests share the machine.
   * @param serviceDatabaseUrl URL of the database for the service, for example through a pooler
   */
  async function expectSurvival(
    causeFailure: () => Promise<void>,
    gapLimitMs: number,
    serviceDatabaseUrl = databaseUrl,
  ): Promise<void> {
    const { instances, external } = deployment;
    const metricsPorts = [await findFreePort(), await findFreePort()];
    await Promise.all(
      instances.map((instance, index) =>
        instance.start({
          ...external.settings,
          DATABASE_URL: serviceDatabaseUrl,
          METRICS_PORT: String(metricsPorts[index]),
        }),
      ),
    );
    const [{ url }, { url: otherUrl = '' } = {}] = instances;
    const options = { otherUrl, pauseMs: PAUSE_MS, timeoutMs: REQUEST_TIMEOUT_MS };
    const workload = await Workload.prepare(deployment, url, options);
    await workload.measureDuring(async () => {
      await causeFailure();
      const readReadiness = () =>
        Promise.all([url, otherUrl].map((each) => fetch(`${each}/api/health/ready`)));
      const isReady = async () => (await readReadiness()).every(({ ok }) => ok);
      await until('both processes are ready', isReady, RECOVERY_LIMIT_MS);
      const countJobs = () => Promise.all(metricsPorts.map(countDoneJobs));
      const before = await countJobs();
      const haveRunJobs = async () =>
        (await countJobs()).every((count, index) => count > (before[index] ?? 0));
      await until('each process runs jobs', haveRunJobs, RECOVERY_LIMIT_MS);
    });
    const { longestGapMs, slowestMs, brokenConnections } = workload.observer;
    process.stdout.write(
      `${expect.getState().currentTestName ?? ''}: ${toSeconds(longestGapMs)} without an acknowledged write, slowest response ${toSeconds(slowestMs)}\n`,
    );
    await workload.verify(databaseUrl, RUNNER_INTERRUPTIONS);
    expect(longestGapMs).toBeLessThan(gapLimitMs);
    expect(slowestMs).toBeLessThan(RESPONSE_LIMIT_MS);
    // No connection to the service broke, because its processes kept running.
    expect(brokenConnections).toBe(0);
  }

  async function switchOver(): Promise<void> {
    const primary = await cluster.getNode('primary');
    await primary.switchover();
    await waitForPromotion(primary.name);
  }

  /** Waits until another node than `formerPrimary` is the primary. */
  async function waitForPromotion(formerPrimary: string): Promise<void> {
    await until(
      'another node is the primary',
      async () => ((await cluster.findNode('primary'))?.name ?? formerPrimary) !== formerPrimary,
      PROMOTION_LIMIT_MS,
    );
  }

  it('during a switchover to another PostgreSQL node', async () => {
    await expectSurvival(switchOver, 15 * SECOND_MS);
  });

  it('after a kill -9 of the primary and of the Patroni process that manages it', async () => {
    await expectSurvival(async () => {
      const primary = await cluster.getNode('primary');
      await primary.kill();
      await waitForPromotion(primary.name);
    }, 45 * SECOND_MS);
  });

  it('while the primary hangs for 35 s and after it continues', async () => {
    await expectSurvival(async () => {
      const primary = await cluster.getNode('primary');
      await primary.suspend();
      await delay(HANG_MS);
      await primary.resume();
      const isReplica = async () => !(await primary.is('primary'));
      await until('the former primary is a replica', isReplica, PROMOTION_LIMIT_MS);
    }, 45 * SECOND_MS);
  });

  it('after a kill -9 of the synchronous standby and of the Patroni process that manages it', async () => {
    await expectSurvival(async () => (await cluster.getNode('synchronous')).kill(), 15 * SECOND_MS);
  });

  it('while the synchronous standby hangs', async () => {
    await expectSurvival(async () => {
      const standby = await cluster.getNode('synchronous');
      await standby.suspend();
      const isReplaced = async () => {
        const node = await cluster.findNode('synchronous');
        return node !== undefined && node.name !== standby.name;
      };
      await until('another standby is synchronous', isReplaced, PROMOTION_LIMIT_MS);
    }, 45 * SECOND_MS);
  });

  it('while the database server is read-only for 8 s', async () => {
    const setReadOnly = async (state: 'on' | 'off') => {
      await cluster.query(`ALTER SYSTEM SET default_transaction_read_only = ${state}`);
      await cluster.query('SELECT pg_reload_conf()');
    };
    await expectSurvival(
      async () => {
        await setReadOnly('on');
        await delay(READ_ONLY_MS);
        await setReadOnly('off');
      },
      READ_ONLY_MS + 12 * SECOND_MS,
    );
  });

  it('during a switchover behind PgBouncer', async () => {
    const pooler = await startPgBouncer(databaseUrl);
    await expectSurvival(switchOver, 15 * SECOND_MS, pooler.through(databaseUrl));
  });
});

async function countDoneJobs(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counts = text.matchAll(/^bakery_job_duration_seconds_count\{.*outcome="done".*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

function toSeconds(milliseconds: number): string {
  return `${(milliseconds / SECOND_MS).toFixed(1)} s`;
}
