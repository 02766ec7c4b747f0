import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Logger as WorkerLogger, parseCrontab, run, type Runner, type TaskList } from 'graphile-worker';
import pg from 'pg';
import type { EntityManager } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../config/database.js';

/** What a job does. It may run more than once and must end the same; throwing means "again, later". */
export type JobHandler<P> = (payload: P) => Promise<void>;

export interface HandleOptions {
  /** After this the job counts as failed, whatever becomes of the handler. Milliseconds, 30,000 at most. */
  readonly deadlineMs?: number;
}

export interface EnqueueOptions {
  /** Of several waiting jobs with one key only the latest runs. */
  readonly key?: string;
  /** Not before this time. */
  readonly runAt?: Date;
  /** For what must be done however long it takes: without it a job is given up after some four days of failures. */
  readonly isNeverGivenUp?: boolean;
}

const SECOND = 1000;
/** What graphile-worker finds worth an operator's eye; the rest is its chatter. */
const NEST_LEVELS: Readonly<Record<string, 'error' | 'warn'>> = { error: 'error', warning: 'warn' };
const CONCURRENCY = 4;
/**
 * Without a delay graphile-worker 0.17 awaits nobody who writes a job's result: a database that goes away then is an
 * unhandled rejection, which ends the process, and a stop does not wait for it.
 */
const AWAITED_RESULTS = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } } as const;
/** With graphile-worker's gaps of exp(min(attempt, 10)) seconds, 25 attempts are about four days. */
const MAX_ATTEMPTS = 25;
/** The most that a smallint counts; with gaps of six hours, 22 years. */
const UNLIMITED_ATTEMPTS = 32_767;
/** No handler takes longer: each neighbour's calls are bounded well below. */
const MAX_DEADLINE_MS = 30 * SECOND;
/** After this a locked job's worker is taken for dead: it is past its deadline. */
const DEAD_WORKER_S = 60;
const RESCUE_INTERVAL_MS = 15 * SECOND;

/**
 * Durable jobs on PostgreSQL (graphile-worker): enqueued in the transaction that causes them, run at least once by
 * one of the processes, repeated with growing gaps when they fail.
 */
@Injectable()
export class JobsService implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('Jobs');
  readonly #tasks: TaskList = {};
  readonly #crontab: string[] = [];
  readonly #stop = new AbortController();
  readonly #pool: pg.Pool;
  #isWorking = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: Database) {
    this.#pool = new pg.Pool({
      connectionString: database.url,
      application_name: 'bakery-jobs',
      // One connection listens, one is to spare.
      max: CONCURRENCY + 2,
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
    return this.#isWorking;
  }

  /** Says what a task does. Call it from `onModuleInit`, before the queue starts. */
  handle<P>(
    task: string,
    handler: JobHandler<P>,
    { deadlineMs = MAX_DEADLINE_MS }: HandleOptions = {},
  ): void {
    this.#tasks[task] = async (payload, { abortSignal }) => {
      // Payloads come from `enqueue` alone, and the two calls of a task stand in one file.
      await withinDeadline(handler(payload as P), task, Math.min(deadlineMs, MAX_DEADLINE_MS), abortSignal);
    };
  }

  /** Runs a task without a payload again and again, once for all processes. @param cron in UTC */
  repeat(task: string, cron: string): void {
    this.#crontab.push(`${cron} ${task} ?jobKey=${task}&max=1`);
  }

  /** Adds a job that exists if and when the transaction commits. The payload must hold nothing secret. */
  async enqueue(
    tx: EntityManager,
    task: string,
    payload: object,
    options: EnqueueOptions = {},
  ): Promise<void> {
    const maxAttempts = options.isNeverGivenUp === true ? UNLIMITED_ATTEMPTS : MAX_ATTEMPTS;
    await tx.query(
      'SELECT graphile_worker.add_job($1, $2::json, job_key := $3, run_at := $4, max_attempts := $5)',
      [task, JSON.stringify(payload), options.key ?? null, options.runAt ?? null, maxAttempts],
    );
  }

  onApplicationBootstrap(): void {
    this.#running = this.#run();
  }

  /** Lets running jobs end, for 5 seconds; those still running then and the waiting ones stay for the next process. */
  async onModuleDestroy(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#pool.end();
  }

  async #run(): Promise<void> {
    // Before the first job is taken: nothing tells this process's own locks from those of a dead one.
    while (this.database.isExclusive && !this.#isStopping() && !(await this.#freeJobsLockedFor(0))) {
      await this.#pause(SECOND);
    }
    await Promise.all([this.#work(), this.#rescue()]);
  }

  /** Runs jobs until the service stops; starts anew when the runner gave up on its database. */
  async #work(): Promise<void> {
    while (!this.#isStopping()) {
      let runner: Runner | undefined;
      const stop = (): void => void runner?.stop().catch(this.#ignoreWhileStopping);
      try {
        runner = await run({
          pgPool: this.#pool,
          taskList: this.#tasks,
          concurrency: CONCURRENCY,
          pollInterval: SECOND,
          noHandleSignals: true,
          logger: this.#workerLogger(),
          preset: AWAITED_RESULTS,
          // Parsed here: without any, a file `crontab` in the working directory would be obeyed.
          parsedCronItems: parseCrontab(this.#crontab.join('\n')),
        });
        this.#isWorking = true;
        this.#stop.signal.addEventListener('abort', stop);
        if (this.#isStopping()) stop();
        await runner.promise;
      } catch (error) {
        this.#logger.warn(`the queue stopped and starts anew: ${messageOf(error)}`);
      } finally {
        this.#isWorking = false;
        this.#stop.signal.removeEventListener('abort', stop);
      }
      await this.#pause(SECOND);
    }
  }

  /**
   * Frees the jobs of processes that died in the middle of one; graphile-worker itself waits four hours. An
   * exclusive database has no other process, so at start every lock in it is a dead one's.
   */
  async #rescue(): Promise<void> {
    while (!this.#isStopping()) {
      await this.#freeJobsLockedFor(DEAD_WORKER_S);
      await this.#pause(RESCUE_INTERVAL_MS);
    }
  }

  /** @returns whether the database could be asked */
  async #freeJobsLockedFor(seconds: number): Promise<boolean> {
    try {
      await this.#pool.query(
        // Not `force_unlock_workers`: a process's jobs share one worker id, and the younger ones may be running.
        `UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL
         WHERE locked_at < now() - make_interval(secs => $1)`,
        [seconds],
      );
      return true;
    } catch (error) {
      this.#logger.warn(`the jobs of dead processes could not be freed: ${messageOf(error)}`);
      return false;
    }
  }

  #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#stop.signal }).catch(this.#ignoreWhileStopping);
  }

  readonly #ignoreWhileStopping = (error: unknown): void => {
    if (!this.#isStopping()) throw error;
  };

  #workerLogger(): WorkerLogger {
    return new WorkerLogger(() => (level, message) => {
      this.#logger[NEST_LEVELS[level] ?? 'verbose'](message);
    });
  }
}

/** @param stopped aborted when the queue stops and has waited for its jobs long enough */
async function withinDeadline(
  work: Promise<void>,
  task: string,
  deadlineMs: number,
  stopped: AbortSignal | undefined,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (() => void) | undefined;
  const cut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${task} took longer than ${deadlineMs} ms`));
    }, deadlineMs);
    giveUp = () => {
      reject(new Error(`${task} was still running when the service stopped`));
    };
    stopped?.addEventListener('abort', giveUp);
  });
  try {
    await Promise.race([work, cut]);
  } finally {
    clearTimeout(timer);
    if (giveUp !== undefined) stopped?.removeEventListener('abort', giveUp);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
