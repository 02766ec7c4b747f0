import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import {
  Logger as WorkerLogger,
  run,
  type TaskList,
  type WorkerEvents,
  type WorkerPool,
} from 'graphile-worker';
import { errorMessage } from '../common/errors/error-info.js';
import { KindLimits, WORKERS } from './job-kinds.js';
import { unlockStaleJobs } from './job-table.js';
import { QueuePool } from './queue-pool.js';
import { watchQueue } from './watch-queue.js';

const RESTART_PAUSE_MS = 500;
/** When the service stops, running jobs have STOP_MS to end. Then RESULTS_MS remain to write their results. */
const STOP_MS = 5_000;
const RESULTS_MS = 2_000;
/** Maximum wait for a runner that failed. Without the database no result can be written, and a new runner should start soon. */
const FAILED_STOP_MS = 1_000;
/** Time after which an idle worker fetches again. A fallback only: `watchQueue` wakes workers for jobs that can run. */
const POLL_INTERVAL_MS = 30_000;
const NEST_LEVELS: Readonly<Record<string, 'error' | 'warn'>> = { error: 'error', warning: 'warn' };

interface QueueOptions {
  readonly taskList: TaskList;
  /** True if no other process runs jobs on the database, so that the locks of a killed process are stale at once. */
  readonly isExclusive: boolean;
  readonly stopping: AbortSignal;
}

/** Keeps a runner working until the service stops. Replaces a runner that fails. */
export class JobQueue {
  readonly pool: QueuePool;
  readonly #logger = new Logger('Jobs');
  #isWorking = false;
  /** `performance.now()` at the last response to a fetch; before the first response, at the construction. */
  #lastFetchAt = performance.now();
  #stoppedAt: number | undefined;
  /** Workers of the last runner. */
  #workerPool: WorkerPool | undefined;

  constructor(databaseUrl: string) {
    this.pool = new QueuePool(databaseUrl);
  }

  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Seconds since a worker of this process last received a response to a fetch, with or without a job. */
  get fetchAgeSeconds(): number {
    return (performance.now() - this.#lastFetchAt) / 1000;
  }

  async run(options: QueueOptions): Promise<void> {
    const { isExclusive, stopping } = options;
    while (!stopping.aborted) {
      try {
        const lockedForS = isExclusive ? 0 : undefined;
        const staleLocks = { lockedForS, endedRunnerId: this.#workerPool?.id };
        await unlockStaleJobs(this.pool, staleLocks);
        await this.#runOnce(options);
      } catch (error) {
        this.#logStop(error, stopping);
      }
      this.#isWorking = false;
      await delay(RESTART_PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  /**
   * Runs jobs until the service stops. Throws when the runner fails. A failed runner is never reused: its workers back off for
   * up to a minute, and if the first fetch fails, graphile-worker 0.17 caches that error and fails every later fetch with it.
   */
  async #runOnce({ taskList, stopping }: QueueOptions): Promise<void> {
    const events: WorkerEvents = new EventEmitter();
    const limits = new KindLimits(events);
    const failed = new AbortController();
    const ended = AbortSignal.any([stopping, failed.signal]);
    this.#subscribe(events, failed, ended);
    const runner = await run({
      taskList,
      parsedCronItems: [], // Otherwise graphile-worker would read a file `crontab`.
      pgPool: this.pool,
      concurrency: WORKERS,
      events,
      forbiddenFlags: limits.forbiddenFlags,
      pollInterval: POLL_INTERVAL_MS,
      noHandleSignals: true,
      // Poolers in transaction mode, such as PgBouncer, do not support prepared statements.
      noPreparedStatements: true,
      gracefulShutdownAbortTimeout: STOP_MS,
      logger: createWorkerLogger(this.#logger, ended),
      // Without a delay of 0, graphile-worker 0.17 does not wait until the results of jobs are written, and a result that
      // cannot be written is an unhandled rejection.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    });
    try {
      const wake = (count: number) => {
        if (!ended.aborted) this.#workerPool?.nudge(count);
      };
      // The watch alone would end only after its current statement.
      await Promise.race([runner.promise, watchQueue(this.pool, wake, ended), once(ended, 'abort')]);
      failed.signal.throwIfAborted(); // with the error of the runner
      if (!stopping.aborted) throw new Error('the runner ended');
    } finally {
      failed.abort(); // also ends the watch
      const timeoutMs = stopping.aborted ? STOP_MS + RESULTS_MS : FAILED_STOP_MS;
      const stopped = Promise.allSettled([runner.stop(), runner.promise]);
      // Limit the wait: graphile-worker 0.17 may never stop if it fails to write two results at the same time.
      await Promise.race([stopped, delay(timeoutMs, undefined, { ref: false })]);
    }
  }

  #subscribe(events: WorkerEvents, failed: AbortController, ended: AbortSignal): void {
    events.once('pool:create', ({ workerPool }) => {
      this.#workerPool = workerPool;
    });
    for (const event of ['pool:listen:error', 'pool:fatalError', 'worker:getJob:error'] as const)
      events.once(event, ({ error }) => {
        failed.abort(error);
      });
    // A worker has received a response to its fetch: a job, or none.
    for (const event of ['job:start', 'worker:getJob:empty'] as const)
      events.on(event, () => {
        if (!ended.aborted) this.#noteFetch();
      });
  }

  #noteFetch(): void {
    this.#lastFetchAt = performance.now();
    this.#isWorking = true;
    if (this.#stoppedAt === undefined) return;
    const seconds = Math.round((performance.now() - this.#stoppedAt) / 1000);
    this.#stoppedAt = undefined;
    this.#logger.log(`the queue works again after ${seconds} s`);
  }

  #logStop(error: unknown, stopping: AbortSignal): void {
    if (stopping.aborted || this.#stoppedAt !== undefined) return;
    this.#stoppedAt = performance.now();
    this.#logger.warn(`the queue stopped and restarts until it works: ${errorMessage(error)}`);
  }
}

/**
 * Creates the logger of a runner.
 * @param ended aborted when the runner has failed or stops. Later errors, except failed tries, are consequences and logged as
 *   `verbose`
 */
function createWorkerLogger(logger: Logger, ended: AbortSignal): WorkerLogger {
  return new WorkerLogger(() => (level, message, meta) => {
    const isFailedTry = meta?.failure === true;
    // Only a warning: most failed tries are retried, and `JobsService` reports a dead job.
    if (isFailedTry) logger.warn(message);
    else if (ended.aborted) logger.verbose(message);
    else logger[NEST_LEVELS[level] ?? 'verbose'](message);
  });
}
