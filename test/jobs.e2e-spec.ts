import { DataSource } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import type { HandleOptions, JobsService } from '../src/jobs/jobs.service.js';
import { built } from './support/built.js';
import { DatabaseProxy } from './support/database-proxy.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { jobRows, makeJobsDue } from './support/jobs.js';
import { until } from './support/wait.js';

/** A process of its own, as far as the queue is concerned. */
interface Process {
  readonly jobs: JobsService;
  /** Numbers of the jobs that it ran, in order. */
  readonly ran: number[];
  readonly stop: () => Promise<void>;
}

interface Payload {
  readonly n: number;
}

const TASK = 'test-task';
const never = (): Promise<void> => new Promise(() => undefined);

describe('durable jobs on PostgreSQL', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let processes: Process[] = [];
  const log: string[] = [];

  beforeAll(async () => {
    // The one that the build uses: Jest's own loader has another.
    const { Logger } = (await importBuilt(
      '../node_modules/@nestjs/common/index.js',
    )) as typeof import('@nestjs/common');
    const record = (message: unknown): void => void log.push(String(message));
    Logger.overrideLogger({ log: record, warn: record, error: record, verbose: () => undefined });
    // As the service does: graphile-worker prints a stack when its connection is cut.
    const { createLogger, routeConsole } = await built('src/common/logging.js');
    routeConsole(createLogger({ logLevel: 'info', nodeEnv: 'test' }, { write: record }));
  });

  beforeEach(async () => {
    log.length = 0;
    database = await createDatabase();
    dataSource = await new DataSource({ type: 'postgres', url: database.url, poolSize: 3 }).initialize();
  });

  afterEach(async () => {
    await Promise.all(processes.map(({ stop }) => stop()));
    processes = [];
    await dataSource.destroy();
    await database.drop();
  });

  /** A process that does not run jobs yet. */
  async function process(
    handler: (payload: Payload) => Promise<void> | void = () => undefined,
    options: HandleOptions & { url?: string; isExclusive?: boolean } = {},
  ): Promise<Process> {
    const { JobsService } = await built('src/jobs/jobs.service.js');
    const { Database } = await built('src/config/database.js');
    const jobs = new JobsService(new Database(options.url ?? database.url, options.isExclusive ?? false));
    const ran: number[] = [];
    jobs.handle<Payload>(
      TASK,
      async (payload) => {
        ran.push(payload.n);
        await handler(payload);
      },
      options,
    );
    let stopping: Promise<void> | undefined;
    const made = { jobs, ran, stop: () => (stopping ??= jobs.onModuleDestroy()) };
    processes.push(made);
    return made;
  }

  async function startProcess(...args: Parameters<typeof process>): Promise<Process> {
    const started = await process(...args);
    started.jobs.start();
    return started;
  }

  const enqueue = ({ jobs }: Process, n: number): Promise<void> =>
    jobs.enqueue(dataSource.manager, TASK, { n });
  const rows = () => jobRows(database.pool, TASK);
  const allDone = () => until('every job is done', async () => (await rows()).length === 0);

  it('a failing job is repeated with growing gaps until it succeeds, and others are not held up', async () => {
    let failures = 3;
    const worker = await startProcess(({ n }) => {
      if (n === 1 && failures-- > 0) throw new Error('not yet');
    });
    await enqueue(worker, 1);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const job = await until(`attempt ${attempt} has failed`, async () =>
        (await rows()).find(({ attempts, locked_by }) => attempts === attempt && locked_by === null),
      );
      expect(job.last_error).toBe('not yet');
      // exp(attempt) seconds: about 2.7, 7.4 and 20.
      expect(job.due_in).toBeGreaterThan(Math.exp(attempt) - 2);
      expect(job.due_in).toBeLessThanOrEqual(Math.exp(attempt));
      await enqueue(worker, 10 + attempt);
      await until('another job ran meanwhile', () => worker.ran.includes(10 + attempt));
      await makeJobsDue(database.pool);
    }
    await allDone();
    expect(worker.ran.filter((n) => n === 1)).toHaveLength(4);
  });

  describe('jobs of a process that died', () => {
    /** A job that a process took some time ago and never gave back. */
    async function leaveLocked(n: number, seconds: number, maxAttempts = 25): Promise<void> {
      await dataSource.query(
        'SELECT graphile_worker.add_job($1, $2::json, job_key := $3, max_attempts := $4::int)',
        [TASK, JSON.stringify({ n }), `${TASK}:${n}`, maxAttempts],
      );
      await dataSource.query(
        `UPDATE graphile_worker._private_jobs
         SET locked_by = 'dead ' || key, locked_at = now() - make_interval(secs => $2), attempts = 1
         WHERE payload->>'n' = $1`,
        [String(n), seconds],
      );
    }

    it('are freed when they are past every deadline, and not before', async () => {
      await leaveLocked(1, 46);
      await leaveLocked(2, 20);
      const worker = await startProcess();
      await until('the older one ran', () => worker.ran.includes(1));
      await enqueue(worker, 3);
      await until('another one ran', () => worker.ran.includes(3));
      expect(worker.ran).not.toContain(2);
      await until('only the younger one is left', async () => (await rows()).length === 1);
    });

    it('are dead, and said to be, when they have no try left', async () => {
      await leaveLocked(1, 46, 1);
      await startProcess();
      await until('the log tells', () => log.find((line) => /^dead job \d+ .*: its process died/.test(line)));
      expect(await rows()).toMatchObject([
        { attempts: 1, max_attempts: 1, locked_by: null, last_error: 'its process died' },
      ]);
    });

    it('are freed at once where the database has no other process, before the first job is taken', async () => {
      const proxy = await DatabaseProxy.start(database.url);
      await proxy.down();
      try {
        await leaveLocked(1, 0);
        const worker = await startProcess(() => delay(1_500), { url: proxy.url, isExclusive: true });
        await proxy.up();
        await until('it ran', () => worker.ran.includes(1));
        await allDone();
        expect(worker.ran).toEqual([1]);
      } finally {
        await proxy.down();
      }
    });
  });

  it('a stop lets a running job end, loses none that waits, and leaves no connection', async () => {
    let finish: (() => void) | undefined;
    const worker = await startProcess(({ n }) =>
      n === 1 ? new Promise<void>((resolve) => (finish = resolve)) : undefined,
    );
    await enqueue(worker, 1);
    await until('it runs', () => finish !== undefined);
    let hasStopped = false;
    const stopping = worker.stop().then(() => (hasStopped = true));
    await enqueue(worker, 2);
    for (let looks = 0; looks < 10; looks += 1) await rows();
    expect(hasStopped).toBe(false);
    finish?.();
    await stopping;
    // A worker that was asking for a job when the stop began may still have got the second one, and has done it.
    const left = await rows();
    expect([...worker.ran, ...left.map(() => 2)]).toEqual([1, 2]);
    for (const job of left) expect(job).toMatchObject({ attempts: 0, locked_by: null });
    // The server's end of a closed connection takes a moment to go.
    await until('it has no connection any more', async () => {
      const { rows: connections } = await database.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'bakery-jobs' AND datname = current_database()",
      );
      return connections.length === 0;
    });
  });

  it('a stop while the database leaves the queue without an answer throws nothing when the connection breaks', async () => {
    const proxy = await DatabaseProxy.start(database.url);
    const stalled = proxy.stallAt('LISTEN "jobs:insert"');
    const worker = await startProcess(undefined, { url: proxy.url });
    await stalled;
    const stopped = worker.stop();
    await proxy.down();
    await stopped;
  });

  it('a handler that hangs is cut off at its deadline and its job repeated', async () => {
    let hangs = true;
    const worker = await startProcess(() => (hangs ? never() : undefined), { deadlineMs: 100 });
    await enqueue(worker, 1);
    await until('it failed', async () =>
      (await rows()).some(({ last_error }) => last_error === `${TASK} took longer than 100 ms`),
    );
    hangs = false;
    await makeJobsDue(database.pool);
    await allDone();
    expect(worker.ran).toEqual([1, 1]);
  });
});
