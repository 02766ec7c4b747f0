import type { WatchedRunner } from '../src/jobs/watch-queue.js';
import { importBuilt } from './support/built.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { useServiceBehindProxy } from './support/database-proxy.js';
import { addJob } from './support/jobs.js';
import { waitUntilReady } from './support/process.js';
import { until } from './support/wait.js';

const TIMES = { pollMs: 20, maintenanceMs: 100, stuckAfterMs: 200 };

const service = await useServiceBehindProxy();

it('an idle process sends at most 2 statements a second to the database', async () => {
  await waitUntilReady(service.url);
  // The start and the jobs of a full minute need more statements, so the first calm 3 seconds count.
  let [countBefore, startedAt] = [service.proxy.statementChunks.length, performance.now()];
  await until('3 seconds with at most 6 statements have passed', () => {
    if (service.proxy.statementChunks.length > countBefore + 6)
      [countBefore, startedAt] = [service.proxy.statementChunks.length, performance.now()];
    return performance.now() - startedAt >= 3_000;
  });
});

describe('the watch over the job runner', () => {
  let database: TestDatabase;
  const neverAborted = new AbortController();
  const wakeCounts: number[] = [];

  /** Watches a runner that fetches no job, unless `runner` says otherwise. */
  async function watch(
    runner: Partial<WatchedRunner> = {},
    signal = neverAborted.signal,
    times = TIMES,
  ): Promise<void> {
    const { watchQueue } = await importBuilt('src/jobs/watch-queue.js');
    const stuckRunner: WatchedRunner = {
      isBusy: () => false,
      lastFetchAt: () => 0,
      wake: (count) => void wakeCounts.push(count),
    };
    await watchQueue(database.pool, { ...stuckRunner, ...runner }, signal, times);
  }

  beforeEach(async () => {
    wakeCounts.length = 0;
    database = await createDatabase();
    await addJob(database.pool, 'test-task');
  });

  it('wakes the workers when a job can run, and fails if none fetches it in time', async () => {
    await expect(watch()).rejects.toThrow('no job was fetched for 0.2 s (jobs that can run: 1)');
    expect(wakeCounts).toContain(1);
  });

  it('counts only jobs that can run, and at most as many of each priority as there are workers', async () => {
    for (let n = 0; n < 20; n += 1) {
      await addJob(database.pool, 'test-task', { key: null, dueInS: 3_600 });
      await addJob(database.pool, 'test-task', { key: null, priority: 10 });
    }
    await expect(watch()).rejects.toThrow('(jobs that can run: 11)');
  });

  it.each<[string, Partial<WatchedRunner>]>([
    ['every worker runs a job', { isBusy: () => true }],
    ['workers fetch jobs', { lastFetchAt: () => performance.now() }],
  ])('does not fail while %s', async (_state, runner) => {
    const stop = new AbortController();
    let polls = 0;
    const lastFetchAt = (): number => {
      polls += 1;
      // A stuck runner would have failed at a third of this time.
      if (polls > (3 * TIMES.stuckAfterMs) / TIMES.pollMs) stop.abort();
      return runner.lastFetchAt?.() ?? 0;
    };
    await expect(watch({ ...runner, lastFetchAt }, stop.signal)).resolves.toBeUndefined();
  });
});
