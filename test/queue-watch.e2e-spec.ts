import { importBuilt } from './support/built.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { useServiceBehindProxy } from './support/database-proxy.js';
import { addJob } from './support/jobs.js';
import { waitUntilReady } from './support/process.js';
import { until } from './support/wait.js';

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

  beforeEach(async () => {
    database = await createDatabase();
    await addJob(database.pool, 'test-task');
  });

  /** Returns the number of jobs for which the first poll wakes workers. */
  async function readWakeCount(): Promise<number> {
    const { watchQueue } = await importBuilt('src/jobs/watch-queue.js');
    const stop = new AbortController();
    let wakeCount = 0;
    const wake = (count: number): void => {
      wakeCount = count;
      stop.abort();
    };
    await watchQueue(database.pool, wake, stop.signal);
    return wakeCount;
  }

  it('wakes a worker for a job that can run', async () => {
    expect(await readWakeCount()).toBe(1);
  });

  it('counts only jobs that can run, and at most as many of each priority as there are workers', async () => {
    for (let n = 0; n < 20; n += 1) {
      await addJob(database.pool, 'test-task', { key: null, dueInS: 3_600 });
      await addJob(database.pool, 'test-task', { key: null, priority: 10 });
    }
    expect(await readWakeCount()).toBe(11);
  });
});
