import { DataSource } from 'typeorm';
import { randomUUID } from 'node:crypto';
import type { JobKind } from '../src/jobs/job-kinds.js';
import type { JobsService } from '../src/jobs/jobs.service.js';
import { importBuilt, importPackage } from './support/built.js';
import { DatabaseProxy } from './support/database-proxy.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { addJob, changeJobs, makeJobsDue, readJobs, withBrokenQueue } from './support/jobs.js';
import { readMetric } from './support/metrics.js';
import { stopAfterUse } from './support/stop-after-use.js';
import { createDeferred, until } from './support/wait.js';

/** Job queue that behaves like the queue of a separate process. */
interface TestQueue {
  readonly jobs: JobsService;
  /** Numbers of the jobs that the queue started, in order. A retried job appears once for each try. */
  readonly ran: number[];
  readonly stop: () => Promise<void>;
}

const TASK = 'test-task';
const never = (): Promise<void> => new Promise(() => undefined);

let database: TestDatabase;
let dataSource: DataSource;
const log: string[] = [];

beforeAll(async () => {
  const { Logger } = await importPackage('@nestjs/common');
  const record = (message: unknown): void => void log.push(String(message));
  Logger.overrideLogger({ log: record, warn: record, error: record, verbose: () => undefined });
  // Log console output like the service does: graphile-worker prints a stack to the console when its connection breaks.
  const { createLogger, redirectConsole } = await importBuilt('src/common/observability/logging.js');
  redirectConsole(createLogger({ logLevel: 'info', nodeEnv: 'test' }, { write: record }));
});

beforeEach(async () => {
  log.length = 0;
  database = await createDatabase();
  const connecting = new DataSource({ type: 'postgres', url: database.url, poolSize: 3 }).initialize();
  dataSource = await stopAfterUse(connecting, (connected) => connected.destroy());
});

/** Creates a queue that does not run jobs before `jobs.start()`. `handler`: gets the number of a job. */
async function createQueue(
  handler: (n: number) => Promise<void> | void = () => undefined,
  options: { kind?: JobKind; url?: string; isExclusive?: boolean } = {},
): Promise<TestQueue> {
  const { JobsService } = await importBuilt('src/jobs/jobs.service.js');
  const { url = database.url, isExclusive = false } = options;
  const jobs = new JobsService({ url, isExclusive }, dataSource);
  const ran: number[] = [];
  const runJob = async ({ n }: { readonly n: number }): Promise<void> => {
    ran.push(n);
    await handler(n);
  };
  jobs.handle(TASK, runJob, options.kind);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= jobs.onModuleDestroy());
  return stopAfterUse({ jobs, ran, stop }, stop);
}

async function startQueue(...args: Parameters<typeof createQueue>): Promise<TestQueue> {
  const started = await createQueue(...args);
  started.jobs.start();
  return started;
}

const enqueue = ({ jobs }: TestQueue, n: number): Promise<void> =>
  jobs.enqueue(dataSource.manager, TASK, { n }, { subject: randomUUID() });
const readTestJobs = () => readJobs(database.pool, TASK);
const waitUntilAllDone = () => until('every job is done', async () => (await readTestJobs()).length === 0);

it('a failed job is retried with growing gaps until it succeeds, and does not delay other jobs', async () => {
  let failures = 3;
  let triedAt = 0;
  const queue = await startQueue((n) => {
    if (n === 1) triedAt = performance.now();
    if (n === 1 && failures-- > 0) throw new Error('not yet');
  });
  await enqueue(queue, 1);
  for (let tries = 1; tries <= 3; tries += 1) {
    const job = await until(`try ${tries} has failed`, async () =>
      (await readTestJobs()).find(({ attempts, locked_by }) => attempts === tries && locked_by === null),
    );
    expect(job.last_error).toBe('not yet');
    // The gap is exp(tries) seconds: about 2.7, 7.4 and 20. It begins between the start of the try and now.
    expect(job.due_in).toBeLessThanOrEqual(Math.exp(tries));
    expect(job.due_in + (performance.now() - triedAt) / 1000).toBeGreaterThanOrEqual(Math.exp(tries));
    await enqueue(queue, 10 + tries);
    await until('another job ran meanwhile', () => queue.ran.includes(10 + tries));
    await makeJobsDue(database.pool);
  }
  await waitUntilAllDone();
  expect(queue.ran.filter((n) => n === 1)).toHaveLength(4);
});

it('a job that fails its last try is dead: the log reports it once, and a metric counts it', async () => {
  const countDead = () =>
    readMetric('bakery_job_duration_seconds', { task: TASK, outcome: 'dead', le: '+Inf' });
  const before = await countDead();
  await startQueue(() => {
    throw new Error('not today');
  });
  await addJob(database.pool, TASK, { payload: { n: 1 }, maxAttempts: 2 });
  const hasFailed = async (attempts: number) =>
    (await readTestJobs()).some((job) => job.attempts === attempts && job.locked_by === null);
  await until('the first try has failed', () => hasFailed(1));
  expect(log.filter((line) => line.startsWith('dead job'))).toEqual([]);
  await makeJobsDue(database.pool);
  await until('the last try has failed', () => hasFailed(2));
  const deadLine = expect.stringMatching(/^dead job \d+ \(test-task\): (Error: )?not today; see /) as string;
  expect(log.filter((line) => line.startsWith('dead job'))).toEqual([deadLine]);
  expect(await countDead()).toBe(before + 1);
});

it('a kind runs no more jobs than its limit at a time, and other jobs pass them', async () => {
  const queue = await startQueue(never, { kind: 'images' });
  for (const n of [1, 2, 3, 4, 5]) await enqueue(queue, n);
  await until('three jobs run', () => queue.ran.length === 3);
  await addJob(database.pool, TASK, { payload: { n: 6 } });
  await until('the job without a kind runs', () => queue.ran.includes(6));
  expect(queue.ran.toSorted()).toEqual([1, 2, 3, 6]);
});

it('a job of the kind mail starts before earlier jobs of the kind code-mail', async () => {
  const queue = await createQueue(never, { kind: 'code-mail' });
  queue.jobs.handle('receipt', () => Promise.resolve(queue.ran.push(0)), 'mail');
  for (const n of [1, 2, 3]) await enqueue(queue, n);
  await queue.jobs.enqueue(dataSource.manager, 'receipt', {}, { subject: '1' });
  queue.jobs.start();
  await until('the receipt and two codes run', () => queue.ran.length === 3);
  expect(queue.ran).toEqual([0, 1, 2]);
});

describe('jobs of a process that died', () => {
  /** Adds a job that a process locked some seconds ago and never released. By default, each job has its own process. */
  async function addLockedJob({ n = 1, lockedForS = 0, maxAttempts = 25, lockedBy = '' }): Promise<void> {
    const key = `${TASK}:${n}`;
    await addJob(database.pool, TASK, { key, payload: { n }, maxAttempts });
    await changeJobs(database.pool, key, { attempts: 1, lockedForS, lockedBy: lockedBy || `dead ${n}` });
  }

  it('are unlocked when their lock is 60 seconds old, and not before', async () => {
    await addLockedJob({ n: 1, lockedForS: 61 });
    await addLockedJob({ n: 2, lockedForS: 45 }); // of another process
    const queue = await startQueue();
    await until('the job with the older lock ran', () => queue.ran.includes(1));
    await enqueue(queue, 3);
    await until('the new job ran', () => queue.ran.includes(3));
    expect(queue.ran).not.toContain(2);
    await until('only the locked job is left', async () => (await readTestJobs()).length === 1);
  });

  it('become dead if they have no try left and any job of their process was locked too long', async () => {
    // The lock of the second job is younger than 60 seconds, but the first lock shows that the process of both has died.
    for (const [n, lockedForS] of [61, 20].entries())
      await addLockedJob({ n, lockedForS, maxAttempts: 1, lockedBy: 'dead' });
    await startQueue();
    await until('both jobs are unlocked', async () =>
      (await readTestJobs()).every(({ locked_by }) => locked_by === null),
    );
    const dead = { attempts: 1, max_attempts: 1 };
    expect(await readTestJobs()).toMatchObject([dead, dead]);
  });

  it('are unlocked when the queue starts if no other process uses the database', async () => {
    const proxy = await DatabaseProxy.start(database.url);
    // The queue must unlock the jobs even if it cannot reach the database at first.
    await proxy.down();
    await addLockedJob({ lockedForS: 0 });
    // If the maintenance unlocked the running job, the next poll would run the job again.
    const runUntilMaintenance = async (): Promise<void> => {
      const { length } = proxy.statementChunks;
      await until('maintenance and two polls have begun', () => {
        const chunks = proxy.statementChunks.slice(length);
        const maintenanceAt = chunks.findIndex((chunk) => chunk.includes('locked_at <= now()'));
        const later = maintenanceAt < 0 ? [] : chunks.slice(maintenanceAt);
        return later.filter((chunk) => chunk.includes('AS runnable')).length >= 2;
      });
    };
    const queue = await startQueue(runUntilMaintenance, { url: proxy.url, isExclusive: true });
    await proxy.up();
    await until('the job ran', () => queue.ran.includes(1));
    await waitUntilAllDone();
    expect(queue.ran).toEqual([1]);
  });
});

it('a stopping queue waits for running jobs, loses no waiting job and closes all connections', async () => {
  const proxy = await DatabaseProxy.start(database.url);
  const work = createDeferred();
  const queue = await startQueue((n) => (n === 1 ? work.promise : undefined), { url: proxy.url });
  await enqueue(queue, 1);
  await until('the job runs', () => queue.ran.includes(1));
  let hasStopped = false;
  const stopping = queue.stop().then(() => (hasStopped = true));
  await enqueue(queue, 2);
  await until('the queue stops', () => proxy.statementChunks.some((chunk) => chunk.includes('UNLISTEN')));
  expect(hasStopped).toBe(false);
  work.resolve();
  await stopping;
  // The second job either is still waiting or has run: a worker may fetch one more job after the stop has begun.
  const left = await readTestJobs();
  expect([...queue.ran, ...left.map(() => 2)]).toEqual([1, 2]);
  for (const job of left) expect(job).toMatchObject({ attempts: 0, locked_by: null });
  // The server needs a moment to notice a closed connection.
  const connections =
    "SELECT FROM pg_stat_activity WHERE application_name = 'bakery-jobs' AND datname = current_database()";
  await until('the queue has no connections', async () => (await database.query(connections)).length === 0);
});

it('withDeadline rejects when the work of a job takes longer than its deadline', async () => {
  const { withDeadline } = await importBuilt('src/jobs/job-handler.js');
  const { signal: stopped } = new AbortController();
  const failed = withDeadline(never(), { task: TASK, deadlineMs: 100, stopped });
  await expect(failed).rejects.toThrow(`${TASK} took longer than 100 ms`);
});

it('a superseded job that fails for good is not reported as dead, because another job does its work', async () => {
  const { PermanentJobError } = await importBuilt('src/jobs/job-handler.js');
  const work = createDeferred();
  const queue = await startQueue((n) => (n === 1 ? work.promise : undefined));
  const enqueueSame = (n: number) => queue.jobs.enqueue(dataSource.manager, TASK, { n }, {});
  await enqueueSame(1);
  await until('the first job runs', () => queue.ran.includes(1));
  await enqueueSame(2);
  await until('the second job ran', () => queue.ran.includes(2));
  work.reject(new PermanentJobError('gone'));
  await waitUntilAllDone();
  expect(log.filter((line) => line.startsWith('dead job'))).toEqual([]);
});

it('a repeated task runs again after a run that failed, and after a job that could not be enqueued', async () => {
  const queue = await createQueue();
  let runs = 0;
  const run = (): Promise<void> => {
    runs += 1;
    return runs === 1 ? Promise.reject(new Error('the first run fails')) : Promise.resolve();
  };
  queue.jobs.repeat('repeated-task', run, 0.1);
  queue.jobs.start();
  await until('the task ran again', () => runs >= 2);
  await withBrokenQueue(database, () =>
    until('the failure is logged', () =>
      log.some((line) => line.startsWith('repeated-task was not enqueued: ')),
    ),
  );
  const runsBefore = runs;
  await until('the task ran again', () => runs >= runsBefore + 2);
});
