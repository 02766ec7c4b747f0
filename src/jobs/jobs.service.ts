import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { type CronItem, parseCronItems, type TaskList } from 'graphile-worker';
import type pg from 'pg';
import type { EntityManager } from 'typeorm';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { jobDuration, mails } from '../common/metrics.js';
import { currentTraceparent, inJobSpan } from '../common/tracing.js';
import { Database } from '../config/database.js';
import { type JobKind, priorityOf, WORKERS } from './job-kinds.js';
import { type DeadLocks, freeJobs, MAX_ATTEMPTS, settleFailedJobs } from './job-table.js';
import { PermanentJobError } from './permanent-job-error.js';
import { QueuePool } from './queue-pool.js';
import { runJobs } from './run-jobs.js';
import { withinDeadline } from './with-deadline.js';

/**
 * What a job does. It may run more than once and must end the same; throwing means "again, later", and throwing
 * PermanentJobError "never again".
 */
export type JobHandler<P> = (payload: P) => Promise<unknown>;

export interface HandleOptions {
  /** The external service that it calls; without one, as many run at a time as there are workers. */
  readonly kind?: JobKind;
  /** After this the job counts as failed, even if the handler goes on. Milliseconds, 30,000 at most and by itself. */
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
/** The most that a smallint counts; with gaps of six hours, 22 years. */
const UNLIMITED_ATTEMPTS = 32_767;
/** No handler takes longer: each external service's calls are bounded well below. */
const DEADLINE_MS = 30 * SECOND;
/** Between two attempts to find the database back. */
const RESTART_PAUSE_MS = 250;

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
  readonly #tasks: TaskList = {};
  readonly #kinds = new Map<string, JobKind | undefined>();
  readonly #cron: CronItem[] = [];
  readonly #loops: (() => Promise<void>)[] = [];
  readonly #stop = new AbortController();
  /** The queue's own connections. */
  readonly pool: pg.Pool;
  #running: Promise<unknown> = Promise.resolve();
  #isWorking = false;

  constructor(private readonly database: Database) {
    this.pool = new QueuePool({
      connectionString: database.url,
      application_name: 'bakery-jobs',
      // One listens for new jobs; taking a job and writing its result down are short.
      max: WORKERS,
      connectionTimeoutMillis: 3 * SECOND,
      // Not `statement_timeout`, which PgBouncer refuses.
      query_timeout: 10 * SECOND,
      keepAlive: true,
    });
    // A lost connection ends the runner, which logs it; without listeners it would end the process.
    this.pool.on('error', ignore);
    this.pool.on('connect', (client) => client.on('error', ignore));
    this.repeatWhileRunning('the care of failed jobs', SECOND, async () => {
      if (!this.#isWorking) return;
      await this.#free();
      await settleFailedJobs(this.pool);
    });
  }

  /** Whether this process takes jobs at the moment. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Says what a task does. Call it from `onModuleInit`, before the queue starts. */
  handle<P>(
    task: string,
    handler: JobHandler<P>,
    { kind, deadlineMs = DEADLINE_MS }: HandleOptions = {},
  ): void {
    this.#kinds.set(task, kind);
    this.#tasks[task] = async (payload, { job, abortSignal }) => {
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
        if (isDead) this.#logDead({ id: job.id, task }, messageOf(error));
        end({ outcome: isDead ? 'dead' : 'failed' });
        if (kind === 'mail') mails.inc({ outcome: isDead ? 'dead' : 'retried' });
        throw error;
      }
    };
  }

  /** Runs a task without a payload and a kind again and again, once for all processes. @param cron in UTC */
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
    options: EnqueueOptions = {},
  ): Promise<void> {
    const kind = this.#kinds.get(task);
    const traceparent = currentTraceparent();
    await tx.query(
      `SELECT graphile_worker.add_job($1, $2::json, run_at := $3, max_attempts := $4, job_key := $5, priority := $6,
         flags := $7::text[])`,
      [
        task,
        JSON.stringify(traceparent === undefined ? payload : { ...payload, traceparent }),
        options.runAt ?? null,
        options.isNeverGivenUp === true ? UNLIMITED_ATTEMPTS : MAX_ATTEMPTS,
        // Without a key a job would look like one that was superseded.
        options.key ?? `${task}:${randomUUID()}`,
        priorityOf(kind),
        kind === undefined ? null : [kind],
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
    await this.pool.end();
  }

  /** A runner ends with its database connection; another one starts as soon as the database is back. */
  async #runUntilStopped(): Promise<void> {
    const options = {
      pgPool: this.pool,
      taskList: this.#tasks,
      parsedCronItems: parseCronItems(this.#cron),
      concurrency: WORKERS,
    };
    // An exclusive database has no other process: before the first job is taken, every lock is a dead process's.
    let locks: DeadLocks = this.database.isExclusive ? { olderThanSeconds: 0 } : {};
    while (!this.#stop.signal.aborted) {
      try {
        await this.#free(locks);
        await runJobs(options, this.#logger, this.#stop.signal, (workerId) => {
          locks = { workerId };
          this.#isWorking = true;
        });
      } catch (error) {
        this.#logger.warn(`the queue stopped and starts anew: ${messageOf(error)}`);
      }
      this.#isWorking = false;
      await this.#pause(RESTART_PAUSE_MS);
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#stop.signal }).catch(ignore);
  }

  async #free(locks?: DeadLocks): Promise<void> {
    for (const job of await freeJobs(this.pool, locks)) this.#logDead(job, 'its process died');
  }

  /** A dead job has one line in the log. */
  #logDead({ id, task }: { readonly id: string; readonly task: string }, reason: string): void {
    this.#logger.error(`dead job ${id} (${task}): ${reason}; see npm run jobs -- list --state dead`);
  }
}

function ignore(): void {
  // See where it is used.
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
