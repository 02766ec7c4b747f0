import { setTimeout as delay } from 'node:timers/promises';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { until } from '../support/wait.js';
import { describeInstalled } from '../support/installed.js';
import { CLUSTER_PROGRAMS, PatroniCluster } from './support/patroni-cluster.js';
import { RESPONSE_LIMIT_MS, ServicePair } from './support/service-pair.js';

const SECOND = 1000;
const HANG_MS = 35 * SECOND;
const READ_ONLY_MS = 8 * SECOND;
const PROMOTION_LIMIT_MS = 60 * SECOND;

/** Assumed interruptions of the job queue by one failure. Each may cause duplicates of the mails being sent. */
const QUEUE_INTERRUPTIONS = 4;

interface Expected {
  /** Limit for the longest time without an acknowledged write. Generous, because tests share the machine. */
  readonly gapMs: number;
  /** True if the database is unavailable for so long that the readiness check must report it. */
  readonly isOutageReported?: boolean;
}

describeInstalled('a shop on a highly available PostgreSQL', [...CLUSTER_PROGRAMS, 'pgbouncer'], () => {
  let cluster: PatroniCluster;
  let databaseUrl: string;
  let services: ServicePair | undefined;
  let pooler: PgBouncer | undefined;

  beforeAll(async () => (cluster = await PatroniCluster.start()), 120_000);
  afterAll(() => cluster.stop(), 60_000);

  beforeEach(async () => {
    databaseUrl = await cluster.createDatabase();
  });

  afterEach(async () => {
    await services?.close();
    await pooler?.stop();
    [services, pooler] = [undefined, undefined];
    await cluster.heal();
  });

  /** Causes a failure under load. Verifies that no acknowledged write was lost, and that the time limits were met. */
  async function expectSurvival(
    name: string,
    causeFailure: () => Promise<void>,
    expected: Expected,
    serviceUrl = databaseUrl,
  ): Promise<void> {
    services = await ServicePair.open(databaseUrl, serviceUrl);
    const { observer } = services.workload;
    await services.startLoad();
    await causeFailure();
    await services.waitUntilRecovered();
    const [start, end] = observer.gap;
    const seconds = (milliseconds: number) => `${(milliseconds / SECOND).toFixed(1)} s`;
    process.stdout.write(
      `${name}: ${seconds(end - start)} without an acknowledged write, slowest ${seconds(observer.slowestMs)}\n`,
    );
    await services.verify(QUEUE_INTERRUPTIONS);
    expect(end - start).toBeLessThan(expected.gapMs);
    expect(observer.slowestMs).toBeLessThan(RESPONSE_LIMIT_MS);
    // No connection to the service broke, because its processes kept running.
    expect(observer.broken).toBe(0);
    if (expected.isOutageReported === true) {
      expect(services.hasReportedDatabase).toBe(true);
      expect(services.readinessDuringGap()).not.toContain('ready');
      expect(observer.refused).toBeGreaterThan(0);
    }
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

  it('survives a switchover', async () => {
    await expectSurvival('switchover', switchOver, { gapMs: 15 * SECOND });
  });

  it('survives a kill -9 of the primary and of the Patroni process that manages it', async () => {
    const killPrimary = async () => {
      const primary = await cluster.getNode('primary');
      await primary.kill();
      await waitForPromotion(primary.name);
    };
    await expectSurvival('kill -9 of the primary', killPrimary, {
      gapMs: 45 * SECOND,
      isOutageReported: true,
    });
  });

  it('survives a primary that hangs for 35 s and then continues', async () => {
    const suspendPrimary = async () => {
      const primary = await cluster.getNode('primary');
      await primary.suspend();
      await delay(HANG_MS);
      await primary.resume();
      const isReplica = async () => !(await primary.is('primary'));
      await until('the former primary is a replica', isReplica, PROMOTION_LIMIT_MS);
    };
    await expectSurvival('primary hung for 35 s', suspendPrimary, {
      gapMs: 45 * SECOND,
      isOutageReported: true,
    });
  });

  it('survives a kill -9 of the synchronous standby', async () => {
    const killStandby = async () => (await cluster.getNode('synchronous')).kill();
    await expectSurvival('kill -9 of the synchronous standby', killStandby, { gapMs: 15 * SECOND });
  });

  it('survives a synchronous standby that hangs', async () => {
    const suspendStandby = async () => {
      const standby = await cluster.getNode('synchronous');
      await standby.suspend();
      const isReplaced = async () => {
        const node = await cluster.findNode('synchronous');
        return node !== undefined && node.name !== standby.name;
      };
      await until('another standby is synchronous', isReplaced, PROMOTION_LIMIT_MS);
    };
    await expectSurvival('synchronous standby hung', suspendStandby, { gapMs: 45 * SECOND });
  });

  it('survives a database server that is read-only for 8 s', async () => {
    const setReadOnly = async (state: 'on' | 'off') => {
      await cluster.query(`ALTER SYSTEM SET default_transaction_read_only = ${state}`);
      await cluster.query('SELECT pg_reload_conf()');
    };
    const rejectWrites = async () => {
      await setReadOnly('on');
      await delay(READ_ONLY_MS);
      await setReadOnly('off');
    };
    const expected = { gapMs: READ_ONLY_MS + 12 * SECOND, isOutageReported: true };
    await expectSurvival('server read-only for 8 s', rejectWrites, expected);
  });

  it('survives a switchover behind PgBouncer', async () => {
    pooler = await startPgBouncer(databaseUrl);
    const expected = { gapMs: 15 * SECOND };
    await expectSurvival('switchover behind PgBouncer', switchOver, expected, pooler.through(databaseUrl));
  });
});
