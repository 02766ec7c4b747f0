import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { type CronItem, type Job, parseCronItems, type TaskList } from 'graphile-worker';
import pg from 'pg';
import type { EntityManager } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { jobDuration, mails } from '../common/metrics.js';
import { currentTraceparent, inJobSpan } from '../common/tracing.js';
import { Database } from '../config/database.js';
import {
  buryJob,
  freeJobsLockedFor,
  freeJobsOf,
  type JobStatistics,
  jobStatistics,
  MAX_ATTEMPTS,
  removeSupersededJobs,
} from './job-table.js';
import { type JobKind, runJobs, WORKERS } from './run-jobs.js';
import { withinDeadline } from './with-deadline.js';

/**
 * What a job does. It may run more than once and must end the same; throwing means "again, later", and throwing
 * PermanentJobError "never again".
 */
export type JobHandler<P> = (payload: P) => Promise<void>;

/** No repetition can mend it, such as an address that does not exist: the job is dead and waits for an operator. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}

export interface HandleOptions {
  /** Which external service it calls. */
  readonly kind: JobKind;
  /** After this the job counts as failed, even if the handler goes on. Milliseconds, 30,000 at most. */
  readonly deadlineMs?: number;
}

export interface EnqueueOptions {
  /** `task:subject`; it is shown to operators. Of several waiting jobs with one key only the latest runs. */
  readonly key: string;
  /** Not before this time. */
  readonly runAt?: Date;
  /** For what must be done however long it takes: without it a job is given up after some four days of failures. */
  readonly isNeverGivenUp?: boolean;
}

const SECOND = 1000;
/** The most that a smallint counts; with gaps of six hours, 22 years. */
const UNLIMITED_ATTEMPTS = 32_767;
/** No handler takes longer: each external service's calls are bounded well below. */
const MAX_DEADLINE_MS = 30 * SECOND;
/** A job that has been locked for so long belongs to a process that died: it is past its deadline. */
const DEAD_PROCESS_S = 45;
const CARE_PAUSE_MS = 2 * SECOND;
/** Between two attempts to find the database back. */
const RESTART_PAUSE_MS = 250;
/** How often to look whether the failure of a job was written down. Its next try comes after 2.7 seconds at least. */
const BURY_LOOKS = 20;
const BURY_PAUSE_MS = 100;

/**
 * Durable jobs on PostgreSQL (graphile-worker): enqueued in the transaction that causes them, run at least once by
 * one of the processes, repeated with growing gaps when they fail.
 *
 * Jobs run only in a process that calls `start`, which the service does. Commands (seed, admin) use the same modules
 * without it: what they enqueue waits for the service.
 */
@Injectable()
export class JobsService implements OnModuleDestroy {
  readonly #logger = new Logger('Jobs');
  readonly #tasks: Record<JobKind, TaskList> = { mail: {}, payments: {}, images: {} };
  readonly #cron: CronItem[] = [];
  readonly #loops: (() => Promise<void>)[] = [];
  readonly #stop = new AbortController();
  readonly #pool: pg.Pool;
  #running: Promise<unknown> = Promise.resolve();
  #isWorking = false;

  constructor(private readonly database: Database) {
    this.#pool = new pg.Pool({
      connectionString: database.url,
      application_name: 'bakery-jobs',
      // Three listen for new jobs; taking a job and writing its result down are short.
      max: Object.values(WORKERS).reduce((sum, workers) => sum + workers),
      connectionTimeoutMillis: 3 * SECOND,
      // Not `statement_timeout`, which PgBouncer refuses.
      query_timeout: 10 * SECOND,
      keepAlive: true,
    });
    // A lost connection ends the runner, which logs it; without listeners it would end the process.
    this.#pool.on('error', ignore);
    this.#pool.on('connect', (client) => client.on('error', ignore));
    this.repeatWhileRunning('the care of jobs', CARE_PAUSE_MS, async () => {
      if (!this.#isWorking) return;
      await freeJobsLockedFor(this.#pool, DEAD_PROCESS_S);
      await removeSupersededJobs(this.#pool);
    });
  }

  /** Whether this process takes jobs at the moment. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** The queue's own pool of connections. */
  get pool(): pg.Pool {
    return this.#pool;
  }

  /** How many jobs there are, of all processes. @throws Error when the database is away */
  statistics(): Promise<JobStatistics> {
    return jobStatistics(this.#pool);
  }

  /** Says what a task does. Call it from `onModuleInit`, before the queue starts. */
  handle<P>(
    task: string,
    handler: JobHandler<P>,
    { kind, deadlineMs = MAX_DEADLINE_MS }: HandleOptions,
  ): void {
    this.#tasks[kind][task] = async (payload, { job, abortSignal }) => {
      const { traceparent } = payload as { readonly traceparent?: string };
      const end = jobDuration.startTimer({ task });
      try {
        // Payloads come from `enqueue` alone, and the two calls of a task stand in one file.
        await inJobSpan(task, traceparent, () =>
          withinDeadline(handler(payload as P), task, deadlineMs, abortSignal),
        );
        end({ outcome: 'done' });
      } catch (error) {
        const isDead = error instanceof PermanentJobError || job.attempts >= job.max_attempts;
        if (isDead) void this.#bury(job, messageOf(error));
        end({ outcome: isDead ? 'dead' : 'failed' });
        if (kind === 'mail') mails.inc({ outcome: isDead ? 'dead' : 'retried' });
        throw error;
      }
    };
  }

  /** Runs a task without a payload, of the kind `payments`, again and again, once for all processes. @param cron in UTC */
  repeat(task: string, cron: string): void {
    this.#cron.push({ task, match: cron, options: { jobKey: task } });
  }

  /**
   * Repeats work in this process from the start of the queue until it stops: for what has to happen more often than
   * once a minute. A failure is logged. Call it from `onModuleInit`.
   * @param name for the log, for example `the sweep of abandoned images`
   */
  repeatWhileRunning(name: string, pauseMs: number, work: () => Promise<void>): void {
    this.#loops.push(async () => {
      while (!this.#stop.signal.aborted) {
        await work().catch((error: unknown) => {
          this.#logger.warn(`${name} failed and will be repeated: ${messageOf(error)}`);
        });
        await this.#pause(pauseMs);
      }
    });
  }

  /** Adds a job that exists if and when the transaction commits. The payload must hold nothing secret. */
  async enqueue(
    tx: EntityManager,
    task: string,
    payload: object,
    { key, runAt, isNeverGivenUp = false }: EnqueueOptions,
  ): Promise<void> {
    const traceparent = currentTraceparent();
    await tx.query(
      'SELECT graphile_worker.add_job($1, $2::json, job_key := $3, run_at := $4, max_attempts := $5)',
      [
        task,
        JSON.stringify(traceparent === undefined ? payload : { ...payload, traceparent }),
        key,
        runAt ?? null,
        isNeverGivenUp ? UNLIMITED_ATTEMPTS : MAX_ATTEMPTS,
      ],
    );
  }

  /** Starts to run jobs, and all that is repeated while the queue runs. Call it once every module is initialised. */
  start(): void {
    this.#running = Promise.all([this.#runUntilStopped(), ...this.#loops.map((loop) => loop())]);
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

  /** The runners end with their database connection; others start as soon as the database is back. */
  async #runUntilStopped(): Promise<void> {
    const { isExclusive } = this.database;
    let workers: string[] = [];
    while (!this.#stop.signal.aborted) {
      try {
        // An exclusive database has no other process: before a job is taken, every lock is that of a dead worker.
        await (isExclusive ? freeJobsLockedFor(this.#pool, 0) : freeJobsOf(this.#pool, workers));
        workers = [];
        await runJobs(this.#pool, this.#tasks, parseCronItems(this.#cron), this.#stop.signal, (worker) => {
          workers.push(worker);
          this.#isWorking = true;
        });
      } catch (error) {
        this.#logger.warn(`the queue stopped and starts anew: ${messageOf(error)}`);
      }
      this.#isWorking = false;
      await this.#pause(RESTART_PAUSE_MS);
    }
  }

  /** Makes a job that has just failed dead. If that fails too, its next try will. */
  async #bury(job: Job, reason: string): Promise<void> {
    this.#logger.error(
      `dead job ${job.id} (${job.task_identifier}): ${reason}; see npm run jobs -- list --state dead`,
    );
    try {
      for (let looks = 0; looks < BURY_LOOKS && !(await buryJob(this.#pool, job)); looks += 1)
        await this.#pause(BURY_PAUSE_MS);
    } catch (error) {
      this.#logger.warn(`job ${job.id} will be tried once more: ${messageOf(error)}`);
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => {
      // Stopping: there is nothing to wait for.
    });
  }
}

function ignore(): void {
  // See where it is used.
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
