import { setTimeout as delay } from 'node:timers/promises';
import type { WatchedRunner } from '../src/jobs/watch-queue.js';
import { importBuilt } from './support/built.js';
import { createDatabase } from './support/databases.js';
import { useServiceBehindProxy } from './support/database-proxy.js';
import { waitUntilReady } from './support/process.js';
import { startBeforeEach } from './support/start-before-tests.js';
import { until } from './support/wait.js';

const STUCK_AFTER_MS = 1_500;

const service = useServiceBehindProxy();

it('an idle process sends at most 2 statements a second to the database', async () => {
  await waitUntilReady(service.url);
  await delay(2_000); // Every worker has polled once.
  // Cron starts jobs at each full minute, so measure between two full minutes.
  await until('no full minute is near', () => {
    const second = new Date().getSeconds();
    return second > 3 && second < 48;
  });
  const before = service.proxy.statements;
  await delay(10_000);
  const sent = service.proxy.statements - before;
  expect(sent).toBeGreaterThan(5); // The queue has been polled.
  expect(sent).toBeLessThanOrEqual(20);
});

describe('the watch over the job runner', () => {
  const database = startBeforeEach(createDatabase, (created) => created.drop());
  const neverAborted = new AbortController();
  const wakeCounts: number[] = [];

  /** Watches a runner that fetches no job, unless `runner` says otherwise. */
  async function watch(runner: Partial<WatchedRunner> = {}, signal = neverAborted.signal): Promise<void> {
    const { watchQueue } = await importBuilt('src/jobs/watch-queue.js');
    const stuckRunner: WatchedRunner = {
      isBusy: () => false,
      lastFetchAt: () => 0,
      wake: (count) => void wakeCounts.push(count),
      onDeadJob: () => undefined,
    };
    await watchQueue(database.pool, { ...stuckRunner, ...runner }, signal, STUCK_AFTER_MS);
  }

  beforeEach(async () => {
    wakeCounts.length = 0;
    await database.query(`SELECT graphile_worker.add_job('test-task', job_key := 'test-task:1')`);
  });

  it('wakes the workers when a job is due, and fails if none fetches it in time', async () => {
    await expect(watch()).rejects.toThrow('no job was fetched for 1.5 s although 1 are due');
    expect(wakeCounts).toContain(1);
  });

  it.each<[string, Partial<WatchedRunner>]>([
    ['every worker runs a job', { isBusy: () => true }],
    ['workers fetch jobs', { lastFetchAt: () => performance.now() }],
  ])('does not fail while %s', async (_state, runner) => {
    const stop = new AbortController();
    const watching = watch(runner, stop.signal);
    await delay(2 * STUCK_AFTER_MS);
    stop.abort();
    await watching;
  });
});
