import { DataSource, type EntityManager } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobsService } from '../src/jobs/jobs.service.js';
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
}

interface Payload {
  readonly n: number;
}

const TASK = 'test-task';

describe('architecture, side effects: durable jobs on PostgreSQL', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  const stopped: (() => Promise<void>)[] = [];
  const log: string[] = [];

  beforeAll(async () => {
    // The one that the build uses: Jest's own loader has another.
    const { Logger } = (await importBuilt(
      '../node_modules/@nestjs/common/index.js',
    )) as typeof import('@nestjs/common');
    const record = (message: unknown): void => void log.push(String(message));
    Logger.overrideLogger({ log: record, warn: record, error: record, verbose: () => undefined });
  });

  beforeEach(async () => {
    log.length = 0;
    database = await createDatabase();
    dataSource = await new DataSource({ type: 'postgres', url: database.url, poolSize: 3 }).initialize();
  });

  afterEach(async () => {
    await Promise.all(stopped.splice(0).map((stop) => stop()));
    await dataSource.destroy();
    await database.drop();
  });

  async function startProcess(
    handler: (payload: Payload, self: Process) => Promise<void> | void = () => undefined,
    options: { url?: string; isExclusive?: boolean; deadlineMs?: number } = {},
  ): Promise<Process & { readonly stop: () => Promise<void> }> {
    const { JobsService } = await built('src/jobs/jobs.service.js');
    const { Database } = await built('src/config/database.js');
    const jobs = new JobsService(new Database(options.url ?? database.url, options.isExclusive ?? false));
    const self: Process = { jobs, ran: [] };
    jobs.handle<Payload>(
      TASK,
      async (payload) => {
        self.ran.push(payload.n);
        await handler(payload, self);
      },
      options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs },
    );
    jobs.start();
    let stopping: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopping ??= jobs.onModuleDestroy());
    stopped.push(stop);
    return { ...self, stop };
  }

  function enqueue({ jobs }: Process, n: number, tx: EntityManager = dataSource.manager): Promise<void> {
    return jobs.enqueue(tx, TASK, { n });
  }

  function rows() {
    return jobRows(database.pool, TASK);
  }

  async function allDone(): Promise<void> {
    await until('every job is done', async () => (await rows()).length === 0);
  }

  it('a job exists if and when its transaction commits', async () => {
    const process = await startProcess();
    await dataSource.transaction(async (tx) => {
      await enqueue(process, 1, tx);
      expect(await rows()).toEqual([]);
    });
    await until('it ran', () => process.ran.length === 1);
    await dataSource
      .transaction(async (tx) => {
        await enqueue(process, 2, tx);
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await enqueue(process, 3);
    await until('the one after it ran', () => process.ran.includes(3));
    await allDone();
    expect(process.ran).toEqual([1, 3]);
  });

  it('of several waiting jobs with one key only the latest runs, and none before its time', async () => {
    const process = await startProcess();
    const later = new Date(Date.now() + 60_000);
    await process.jobs.enqueue(dataSource.manager, TASK, { n: 1 }, { key: 'one', runAt: later });
    await process.jobs.enqueue(dataSource.manager, TASK, { n: 2 }, { key: 'one', runAt: later });
    await enqueue(process, 3);
    const [waiting] = await until('the job without a time has run and is gone', async () => {
      const left = await rows();
      return process.ran.length === 1 && left.length === 1 && left;
    });
    expect(waiting?.due_in).toBeGreaterThan(50);
    await makeJobsDue(database.pool);
    await allDone();
    expect(process.ran).toEqual([3, 2]);
  });

  it('a failing job is repeated with growing gaps until it succeeds, and others are not held up', async () => {
    let failures = 4;
    const process = await startProcess(({ n }) => {
      if (n === 1 && failures-- > 0) throw new Error('not yet');
    });
    await enqueue(process, 1);
    const gaps: number[] = [];
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      const job = await until(`attempt ${attempt} has failed`, async () =>
        (await rows()).find(({ attempts, locked_by }) => attempts === attempt && locked_by === null),
      );
      expect(job.last_error).toBe('not yet');
      gaps.push(job.due_in);
      await enqueue(process, 10 + attempt);
      await until('another job ran meanwhile', () => process.ran.includes(10 + attempt));
      await makeJobsDue(database.pool);
    }
    await allDone();
    expect(process.ran.filter((n) => n === 1)).toHaveLength(5);
    // exp(attempt) seconds: about 2.7, 7.4, 20 and 55.
    expect(gaps.every((gap, index) => gap > Math.exp(index + 1) - 2 && gap <= Math.exp(index + 1))).toBe(
      true,
    );
  });

  it('two processes share the jobs and run each one once', async () => {
    const slowly = (): Promise<void> => delay(5);
    const first = await startProcess(slowly);
    const second = await startProcess(slowly);
    await dataSource.transaction(async (tx) => {
      for (let n = 0; n < 100; n += 1) await enqueue(first, n, tx);
    });
    await allDone();
    expect([...first.ran, ...second.ran].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, n) => n),
    );
    expect(first.ran.length).toBeGreaterThan(0);
    expect(second.ran.length).toBeGreaterThan(0);
  });

  describe('jobs of a process that died', () => {
    /** A job that a process took some time ago and never gave back. */
    async function leaveLocked(n: number, seconds: number): Promise<void> {
      await dataSource.query('SELECT graphile_worker.add_job($1, $2::json)', [TASK, JSON.stringify({ n })]);
      await dataSource.query(
        `UPDATE graphile_worker._private_jobs
         SET locked_by = 'dead', locked_at = now() - make_interval(secs => $2), attempts = 1
         WHERE payload->>'n' = $1`,
        [String(n), seconds],
      );
    }

    it('are freed at once where the database has no other process', async () => {
      await leaveLocked(1, 0);
      const process = await startProcess(undefined, { isExclusive: true });
      await until('it ran', () => process.ran.includes(1));
      await allDone();
    });

    it('are freed elsewhere only when they are past every deadline', async () => {
      await leaveLocked(1, 61);
      await leaveLocked(2, 30);
      const process = await startProcess();
      await until('the older one ran', () => process.ran.includes(1));
      await enqueue(process, 3);
      await until('another one ran', () => process.ran.includes(3));
      expect(process.ran).not.toContain(2);
      expect((await rows()).map(({ locked_by }) => locked_by)).toEqual(['dead']);
    });

    it('are freed before the process takes jobs of its own, so that those run once', async () => {
      const proxy = await DatabaseProxy.start(database.url);
      await proxy.down();
      try {
        await leaveLocked(1, 0);
        const process = await startProcess(() => delay(1_500), { url: proxy.url, isExclusive: true });
        await proxy.up();
        await until('it ran', () => process.ran.includes(1));
        await allDone();
        expect(process.ran).toEqual([1]);
      } finally {
        await proxy.down();
      }
    });
  });

  it('a stop lets a running job end, loses none that waits, and leaves no connection', async () => {
    let finish: (() => void) | undefined;
    const process = await startProcess(
      ({ n }) =>
        new Promise<void>((resolve) => {
          if (n === 1) finish = resolve;
          else resolve();
        }),
    );
    await enqueue(process, 1);
    await until('it runs', () => finish !== undefined);
    let hasStopped = false;
    const stopping = process.stop().then(() => (hasStopped = true));
    await enqueue(process, 2);
    for (let looks = 0; looks < 10; looks += 1) await rows();
    expect(hasStopped).toBe(false);
    finish?.();
    await stopping;
    // A worker that was asking for a job when the stop began may still have got the second one, and has done it.
    const left = await rows();
    expect([...process.ran, ...left.map(() => 2)]).toEqual([1, 2]);
    for (const job of left) expect(job).toMatchObject({ attempts: 0, locked_by: null });
    // The server's end of a closed connection takes a moment to go.
    await until('it has no connection any more', async () => {
      const { rows: connections } = await database.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'bakery-jobs' AND datname = current_database()",
      );
      return connections.length === 0;
    });
  });

  it('a stop gives a job that does not end back to the next process', async () => {
    const hanging = await startProcess(() => new Promise<void>(() => undefined));
    await enqueue(hanging, 1);
    await until('it runs', () => hanging.ran.length === 1);
    const begun = Date.now();
    await hanging.stop();
    expect(Date.now() - begun).toBeLessThan(8_000);
    const [job] = await rows();
    expect(job).toMatchObject({ attempts: 1, locked_by: null });
    const next = await startProcess();
    await makeJobsDue(database.pool);
    await until('the next process ran it', () => next.ran.includes(1));
  });

  it('docs/decisions 12: a dead job whose key is enqueued again is done by the new one and leaves no row', async () => {
    await dataSource.query(
      `SELECT graphile_worker.add_job($1, '{"n":1}'::json, job_key := 'test-task:1', max_attempts := 1)`,
      [TASK],
    );
    await dataSource.query('UPDATE graphile_worker._private_jobs SET attempts = max_attempts');
    await dataSource.query(`SELECT graphile_worker.add_job($1, '{"n":2}'::json, job_key := 'test-task:1')`, [
      TASK,
    ]);
    expect(await rows()).toHaveLength(2);
    const process = await startProcess();
    await allDone();
    expect(process.ran).toEqual([2]);
  });

  it('a handler that hangs is cut off at its deadline and its job repeated', async () => {
    let hangs = true;
    const process = await startProcess(() => (hangs ? new Promise<void>(() => undefined) : undefined), {
      deadlineMs: 100,
    });
    await enqueue(process, 1);
    const job = await until('it failed', async () =>
      (await rows()).find(({ last_error }) => last_error !== null),
    );
    expect(job).toMatchObject({ last_error: `${TASK} took longer than 100 ms`, locked_by: null });
    hangs = false;
    await makeJobsDue(database.pool);
    await allDone();
    expect(process.ran).toEqual([1, 1]);
  });

  it('the queue goes on by itself when the database was away, and no job is lost', async () => {
    const proxy = await DatabaseProxy.start(database.url);
    let finish: (() => void) | undefined;
    const process = await startProcess(
      ({ n }) => (n === 1 ? new Promise<void>((resolve) => (finish = resolve)) : undefined),
      { url: proxy.url },
    );
    await enqueue(process, 1);
    await until('it runs', () => finish !== undefined);
    await proxy.down();
    // It ends while its end cannot be written down.
    finish?.();
    await enqueue(process, 2);
    await until('its end could not be written', () =>
      log.some((line) => line.includes('Failed to complete jobs')),
    );
    expect(process.ran).toEqual([1]);
    await proxy.up();
    await until('the job of the meantime ran', () => process.ran.includes(2), 15_000);
    await enqueue(process, 3);
    await until('a later job ran', () => process.ran.includes(3));
    // The first one is taken for a dead process's and run again.
    await database.pool.query(
      "UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '61 s' WHERE locked_by IS NOT NULL",
    );
    const next = await startProcess();
    await until(
      'the first job was repeated',
      () => next.ran.includes(1) || process.ran.filter((n) => n === 1).length > 1,
    );
    finish?.();
    await allDone();
    await process.stop();
    await proxy.down();
  });
});
