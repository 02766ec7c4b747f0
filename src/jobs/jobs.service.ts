import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Logger as WorkerLogger, run, type Runner, type TaskList } from 'graphile-worker';
import pg from 'pg';
import type { EntityManager } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../config/database.js';

/** What a job does. It may run more than once and must end the same; throwing means "again, later". */
export type JobHandler<P> = (payload: P) => Promise<void>;

export interface EnqueueOptions {
  /** Of several waiting jobs with one key only the latest runs. */
  readonly key?: string;
  /** Not before this time. */
  readonly runAt?: Date;
}

const SECOND = 1000;
/** What graphile-worker finds worth an operator's eye; the rest is its chatter. */
const NEST_LEVELS: Readonly<Record<string, 'error' | 'warn'>> = { error: 'error', warning: 'warn' };
const CONCURRENCY = 4;
/** With graphile-worker's gaps of exp(min(attempt, 10)) seconds, 25 attempts are about four days. */
const MAX_ATTEMPTS = 25;
/** No handler takes longer: each neighbour's calls are bounded well below. */
const JOB_DEADLINE_MS = 30 * SECOND;
/** After this a locked job's worker is taken for dead: it is past its deadline. */
const DEAD_WORKER_S = 60;
const RESCUE_INTERVAL_MS = 15 * SECOND;
/**
 * Without a batch graphile-worker 0.17 awaits nobody's release of a job: one that meets a lost connection is an
 * unhandled rejection, which ends the process. A batch reports it and stops the runner, which `#work` starts anew.
 */
const BATCHED_RELEASES = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } } as const;

/**
 * Durable jobs on PostgreSQL (graphile-worker): enqueued in the transaction that causes them, run at least once by
 * one of the processes, repeated with growing gaps when they fail.
 */
@Injectable()
export class JobsService implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('Jobs');
  readonly #tasks: TaskList = {};
  readonly #stop = new AbortController();
  readonly #pool: pg.Pool;
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: Database) {
    this.#pool = new pg.Pool({
      connectionString: database.url,
      application_name: 'bakery-jobs',
      // One connection listens, one is to spare.
      max: CONCURRENCY + 2,
      connectionTimeoutMillis: 5 * SECOND,
    });
    const report = (error: Error): void => {
      this.#logger.warn(`the queue lost a database connection: ${error.message}`);
    };
    this.#pool.on('error', report);
    this.#pool.on('connect', (client) => client.on('error', report));
  }

  /** Says what a task does. Call it from `onModuleInit`, before the queue starts. */
  handle<P>(task: string, handler: JobHandler<P>): void {
    this.#tasks[task] = async (payload) => {
      // Payloads come from `enqueue` alone, and the two calls of a task stand in one file.
      await withinDeadline(handler(payload as P), task);
    };
  }

  /** Adds a job that exists if and when the transaction commits. The payload must hold nothing secret. */
  async enqueue(
    tx: EntityManager,
    task: string,
    payload: object,
    options: EnqueueOptions = {},
  ): Promise<void> {
    await tx.query(
      'SELECT graphile_worker.add_job($1, $2::json, job_key := $3, run_at := $4, max_attempts := $5)',
      [task, JSON.stringify(payload), options.key ?? null, options.runAt ?? null, MAX_ATTEMPTS],
    );
  }

  onApplicationBootstrap(): void {
    this.#running = Promise.all([this.#work(), this.#rescue()]);
  }

  /** Lets running jobs end; waiting ones stay for the next process. */
  async onModuleDestroy(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#pool.end();
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
          preset: BATCHED_RELEASES,
          logger: this.#workerLogger(),
        });
        this.#stop.signal.addEventListener('abort', stop);
        if (this.#isStopping()) stop();
        await runner.promise;
      } catch (error) {
        this.#logger.warn(`the queue stopped and starts anew: ${messageOf(error)}`);
      } finally {
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
    let deadAfter = this.database.isExclusive ? 0 : DEAD_WORKER_S;
    while (!this.#isStopping()) {
      try {
        await this.#pool.query(
          `SELECT graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by))
           FROM graphile_worker._private_jobs WHERE locked_at < now() - make_interval(secs => $1)
           HAVING count(*) > 0`,
          [deadAfter],
        );
        deadAfter = DEAD_WORKER_S;
      } catch (error) {
        this.#logger.warn(`the jobs of dead processes could not be freed: ${messageOf(error)}`);
      }
      await this.#pause(RESCUE_INTERVAL_MS);
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

async function withinDeadline(work: Promise<void>, task: string): Promise<void> {
  const done = new AbortController();
  const deadline = delay(JOB_DEADLINE_MS, undefined, { signal: done.signal }).then(() => {
    throw new Error(`${task} took longer than ${JOB_DEADLINE_MS / SECOND} seconds`);
  });
  try {
    await Promise.race([work, deadline]);
  } finally {
    done.abort();
    deadline.catch(() => {
      // The aborted timer; the race has been decided.
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
