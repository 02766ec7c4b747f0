import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { JobHelpers, TaskList } from 'graphile-worker';
import pg from 'pg';
import type { EntityManager } from 'typeorm';
import { randomUUID } from 'node:crypto';
import { Database } from '../config/database.js';
import type { PoolState } from '../config/database-pool.js';
import { LANE_NAMES, type LaneName, LANES } from './job-lanes.js';
import { LaneRunner, pauseUnlessStopping } from './lane-runner.js';
import { type JobStatistics, jobStatistics } from './job-statistics.js';
import { type FreedDead, freeJobsLockedFor, freeJobsOf, giveUp, removeSuperseded } from './job-table.js';
import { observedRun, withTrace } from './observed-run.js';
import { PermanentJobError } from './permanent-job-error.js';
import { withinDeadline } from './with-deadline.js';

/**
 * What a job does. It may run more than once and must end the same; throwing means "again, later", and throwing
 * PermanentJobError "never again".
 */
export type JobHandler<P> = (payload: P) => Promise<void>;

export interface HandleOptions {
  /** Whose slow answers it waits for. */
  readonly lane?: LaneName;
  /** After this the job counts as failed, whatever becomes of the handler. Milliseconds, 30,000 at most. */
  readonly deadlineMs?: number;
}

export interface EnqueueOptions {
  /** Of several waiting jobs with one key only the latest runs. `task:subject`; it is shown to operators. */
  readonly key?: string;
  /** Not before this time. */
  readonly runAt?: Date;
  /** For what must be done however long it takes: without it a job is given up after some four days of failures. */
  readonly isNeverGivenUp?: boolean;
}

const SECOND = 1000;
/** Its tasks are many, small and quick. */
const DEFAULT_LANE: LaneName = 'payments';
const POOL_SIZE = LANE_NAMES.length + 5;
/** With graphile-worker's gaps of exp(min(attempt, 10)) seconds, 25 attempts are about four days. */
const MAX_ATTEMPTS = 25;
/** The most that a smallint counts; with gaps of six hours, 22 years. */
const UNLIMITED_ATTEMPTS = 32_767;
/** No handler takes longer: each neighbour's calls are bounded well below. */
const MAX_DEADLINE_MS = 30 * SECOND;
/** After this a locked job's worker is taken for dead: it is past its deadline. */
const DEAD_WORKER_S = 60;
const RESCUE_INTERVAL_MS = 5 * SECOND;

/**
 * Durable jobs on PostgreSQL (graphile-worker): enqueued in the transaction that causes them, run at least once by
 * one of the processes, repeated with growing gaps when they fail.
 */
@Injectable()
export class JobsService implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('Jobs');
  readonly #tasks: Readonly<Record<LaneName, TaskList>> = { mail: {}, payments: {}, images: {} };
  readonly #laneOf = new Map<string, LaneName>();
  readonly #crontab: { readonly task: string; readonly line: string }[] = [];
  readonly #stop = new AbortController();
  readonly #pool: pg.Pool;
  #lanes: readonly LaneRunner[] = [];
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: Database) {
    this.#pool = new pg.Pool({
      connectionString: database.url,
      application_name: 'bakery-jobs',
      // Each lane listens on one; taking a job and writing its result down are short.
      max: POOL_SIZE,
      connectionTimeoutMillis: 5 * SECOND,
      statement_timeout: 10 * SECOND,
      query_timeout: 12 * SECOND,
      keepAlive: true,
    });
    const report = (error: Error): void => {
      this.#logger.warn(`the queue lost a database connection: ${error.message}`);
    };
    this.#pool.on('error', report);
    this.#pool.on('connect', (client) => client.on('error', report));
  }

  /** Whether this process takes jobs at the moment. */
  get isWorking(): boolean {
    return this.#lanes.length > 0 && this.#lanes.every(({ isWorking }) => isWorking);
  }

  /** The queue's own pool of connections. */
  get pool(): PoolState {
    return this.#pool;
  }

  /** How many jobs there are, of all processes. @throws Error when the database is away or takes over a second */
  statistics(): Promise<JobStatistics> {
    return jobStatistics(this.#pool);
  }

  /** Says what a task does. Call it from `onModuleInit`, before the queue starts. */
  handle<P>(
    task: string,
    handler: JobHandler<P>,
    { lane = DEFAULT_LANE, deadlineMs = MAX_DEADLINE_MS }: HandleOptions = {},
  ): void {
    this.#laneOf.set(task, lane);
    this.#tasks[lane][task] = (payload, helpers) => {
      const limitMs = Math.min(deadlineMs, MAX_DEADLINE_MS);
      const work = (): Promise<void> =>
        // Payloads come from `enqueue` alone, and the two calls of a task stand in one file.
        withinDeadline(handler(payload as P), task, limitMs, helpers.abortSignal);
      const bury = (error: unknown): Promise<boolean> => this.#buryIfDead(helpers, error);
      return observedRun({ task, lane, payload }, work, bury);
    };
  }

  /** Runs a task without a payload again and again, once for all processes. @param cron in UTC */
  repeat(task: string, cron: string): void {
    this.#crontab.push({ task, line: `${cron} ${task} ?jobKey=${task}` });
  }

  /** Adds a job that exists if and when the transaction commits. The payload must hold nothing secret. */
  async enqueue(
    tx: EntityManager,
    task: string,
    payload: object,
    options: EnqueueOptions = {},
  ): Promise<void> {
    const { priority } = LANES[this.#laneOf.get(task) ?? DEFAULT_LANE];
    const maxAttempts = options.isNeverGivenUp === true ? UNLIMITED_ATTEMPTS : MAX_ATTEMPTS;
    await tx.query(
      `SELECT graphile_worker.add_job($1, $2::json, job_key := $3, run_at := $4, max_attempts := $5,
         priority := $6)`,
      // Without a key a job would look like one that was superseded.
      [
        task,
        JSON.stringify(withTrace(payload)),
        options.key ?? `${task}:${randomUUID()}`,
        options.runAt ?? null,
        maxAttempts,
        priority,
      ],
    );
  }

  onApplicationBootstrap(): void {
    this.#lanes = LANE_NAMES.filter((lane) => Object.keys(this.#tasks[lane]).length > 0).map(
      (lane) =>
        new LaneRunner(
          lane,
          this.#pool,
          this.#tasks[lane],
          this.#crontabOf(lane),
          this.#logger,
          this.#stop.signal,
          async (poolId) => {
            this.#reportDeadOf(await freeJobsOf(this.#pool, poolId));
          },
        ),
    );
    this.#running = this.#run();
  }

  /** Begins what `onModuleDestroy` waits for, so that jobs end while requests do. */
  stopTaking(): void {
    this.#stop.abort();
  }

  /** Lets running jobs end, for 5 seconds; those still running then and the waiting ones stay for the next process. */
  async onModuleDestroy(): Promise<void> {
    this.stopTaking();
    await this.#running;
    await this.#pool.end();
  }

  async #run(): Promise<void> {
    // Before the first job is taken: nothing tells this process's own locks from those of a dead one.
    while (this.database.isExclusive && !this.#isStopping() && !(await this.#freeJobsLockedFor(0))) {
      await pauseUnlessStopping(SECOND, this.#stop.signal);
    }
    await Promise.all([...this.#lanes.map((lane) => lane.run()), this.#rescue()]);
  }

  /** Each lane enqueues its own tasks only: a runner takes no task that it does not know. */
  #crontabOf(lane: LaneName): string {
    return this.#crontab
      .filter(({ task }) => this.#laneOf.get(task) === lane)
      .map(({ line }) => line)
      .join('\n');
  }

  /**
   * Frees the jobs of processes that died in the middle of one; graphile-worker itself waits four hours. An
   * exclusive database has no other process, so at start every lock in it is a dead one's.
   */
  async #rescue(): Promise<void> {
    while (!this.#isStopping()) {
      await this.#freeJobsLockedFor(DEAD_WORKER_S);
      await pauseUnlessStopping(RESCUE_INTERVAL_MS, this.#stop.signal);
    }
  }

  /** @returns whether the database could be asked */
  async #freeJobsLockedFor(seconds: number): Promise<boolean> {
    try {
      this.#reportDeadOf(await freeJobsLockedFor(this.#pool, seconds));
      await removeSuperseded(this.#pool);
      return true;
    } catch (error) {
      this.#logger.warn(`the jobs of dead processes could not be freed: ${messageOf(error)}`);
      return false;
    }
  }

  /** A job that can be tried no more waits for an operator, who must hear of it. @returns whether it is one */
  async #buryIfDead({ job, withPgClient }: JobHelpers, error: unknown): Promise<boolean> {
    if (!(error instanceof PermanentJobError) && job.attempts < job.max_attempts) return false;
    try {
      const isDead = await withPgClient((client) => giveUp(client, job.id));
      if (isDead) this.#reportDead(job.id, job.task_identifier, messageOf(error));
      return isDead;
    } catch (failure) {
      // The database is away: the job is taken for a dead process's and tried once more.
      this.#logger.warn(`job ${job.id} could not be given up: ${messageOf(failure)}`);
      return false;
    }
  }

  #reportDeadOf(freed: readonly FreedDead[]): void {
    for (const { id, task } of freed) this.#reportDead(id, task, 'its process died');
  }

  #reportDead(id: string, task: string, reason: string): void {
    this.#logger.error(`dead job ${id} (${task}): ${reason}; see npm run jobs -- list --state dead`);
  }

  #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
