import { setTimeout as delay } from 'node:timers/promises';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { until } from '../support/wait.js';
import { missingPrograms, PatroniCluster } from './support/patroni-cluster.js';
import { RESPONSE_BOUND_MS, Shop } from './support/shop.js';

const missing = missingPrograms();
// CI installs the programs. On other machines the suite is skipped, and its title names the missing programs.
if (missing.length > 0 && process.env.CI !== undefined) throw new Error(`CI needs ${missing.join(', ')}`);
const describeInstalled = missing.length > 0 ? describe.skip : describe;

const SECOND = 1000;
const HANG_MS = 35 * SECOND;
const READ_ONLY_MS = 8 * SECOND;
/** Time limit for the promotion of a standby. */
const PROMOTION_MS = 60 * SECOND;

/** Assumed interruptions of the job queue by one failure. Each may cause duplicates of the mails being sent. */
const QUEUE_INTERRUPTIONS = 4;

interface Expected {
  /** Longest time without an acknowledged write. Generous, because tests share the machine. */
  readonly gapMs: number;
  /** True if the database is unavailable for so long that the readiness check must report it. */
  readonly isOutageReported?: boolean;
}

describeInstalled(
  `a shop on a highly available PostgreSQL${missing.map((name) => ` (no ${name})`).join('')}`,
  () => {
    let cluster: PatroniCluster;
    let shop: Shop;
    let pooler: PgBouncer | undefined;

    beforeAll(async () => (cluster = await PatroniCluster.start()), 120_000);
    afterAll(() => cluster.stop(), 60_000);
    afterEach(async () => {
      await shop.close();
      await pooler?.stop();
      pooler = undefined;
      await cluster.heal();
    });

    /** Causes a failure under load. Verifies that no acknowledged write was lost, and that the time limits were met. */
    async function expectSurvival(
      name: string,
      causeFailure: () => Promise<void>,
      expected: Expected,
    ): Promise<void> {
      const { observer } = shop.workload;
      await shop.start();
      await causeFailure();
      await shop.recover();
      const [start, end] = observer.gap;
      const seconds = (milliseconds: number) => `${(milliseconds / SECOND).toFixed(1)} s`;
      process.stdout.write(
        `${name}: ${seconds(end - start)} without an acknowledged write, slowest ${seconds(observer.slowestMs)}\n`,
      );
      await shop.verify(QUEUE_INTERRUPTIONS);
      expect(end - start).toBeLessThan(expected.gapMs);
      expect(observer.slowestMs).toBeLessThan(RESPONSE_BOUND_MS);
      // No connection to the service broke, because its processes kept running.
      expect(observer.broken).toBe(0);
      if (expected.isOutageReported === true) {
        expect(shop.hasReportedDatabase).toBe(true);
        expect(shop.readinessDuringGap()).not.toContain('ready');
        expect(observer.refused).toBeGreaterThan(0);
      }
    }

    /** Waits until another node than `formerPrimary` is the primary. */
    async function untilPromoted(formerPrimary: string): Promise<void> {
      await until(
        'another node is the primary',
        async () => ((await cluster.findNode('primary'))?.name ?? formerPrimary) !== formerPrimary,
        PROMOTION_MS,
      );
    }

    it('survives a switchover', async () => {
      shop = await Shop.open(await cluster.createDatabase());
      const primary = await cluster.nodeOf('primary');
      const switchOver = async () => {
        await primary.switchover();
        await untilPromoted(primary.name);
      };
      await expectSurvival('switchover', switchOver, { gapMs: 15 * SECOND });
    });

    it('survives a kill -9 of the primary and of the Patroni process that manages it', async () => {
      shop = await Shop.open(await cluster.createDatabase());
      const primary = await cluster.nodeOf('primary');
      const kill = async () => {
        await primary.kill();
        await untilPromoted(primary.name);
      };
      await expectSurvival('kill -9 of the primary', kill, { gapMs: 45 * SECOND, isOutageReported: true });
    });

    it('survives a primary that hangs for 35 s and then continues', async () => {
      shop = await Shop.open(await cluster.createDatabase());
      const primary = await cluster.nodeOf('primary');
      const hang = async () => {
        await primary.suspend();
        await delay(HANG_MS);
        await primary.resume();
        await until('the old primary is a replica', async () => !(await primary.is('primary')), PROMOTION_MS);
      };
      await expectSurvival('primary hung for 35 s', hang, { gapMs: 45 * SECOND, isOutageReported: true });
    });

    it('survives a kill -9 of the synchronous standby', async () => {
      shop = await Shop.open(await cluster.createDatabase());
      const standby = await cluster.nodeOf('synchronous');
      await expectSurvival('kill -9 of the synchronous standby', () => standby.kill(), {
        gapMs: 15 * SECOND,
      });
    });

    it('survives a synchronous standby that hangs', async () => {
      shop = await Shop.open(await cluster.createDatabase());
      const standby = await cluster.nodeOf('synchronous');
      const hang = async () => {
        await standby.suspend();
        const isReplaced = async () => {
          const node = await cluster.findNode('synchronous');
          return node !== undefined && node.name !== standby.name;
        };
        await until('another standby is synchronous', isReplaced, PROMOTION_MS);
      };
      await expectSurvival('synchronous standby hung', hang, { gapMs: 45 * SECOND });
    });

    it('survives a database server that is read-only for 8 s', async () => {
      shop = await Shop.open(await cluster.createDatabase());
      const setReadOnly = async (state: 'on' | 'off') => {
        await cluster.query(`ALTER SYSTEM SET default_transaction_read_only = ${state}`);
        await cluster.query('SELECT pg_reload_conf()');
      };
      const turnReadOnly = async () => {
        await setReadOnly('on');
        await delay(READ_ONLY_MS);
        await setReadOnly('off');
      };
      const expected = { gapMs: READ_ONLY_MS + 12 * SECOND, isOutageReported: true };
      await expectSurvival('server read-only for 8 s', turnReadOnly, expected);
    });

    it('survives a switchover behind PgBouncer', async () => {
      const url = await cluster.createDatabase();
      pooler = await startPgBouncer(url);
      shop = await Shop.open(url, pooler.through(url));
      const primary = await cluster.nodeOf('primary');
      const switchOver = async () => {
        await primary.switchover();
        await untilPromoted(primary.name);
      };
      await expectSurvival('switchover behind PgBouncer', switchOver, { gapMs: 15 * SECOND });
    });
  },
);
