import type { Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { type DeadLocks, freeJobs } from './job-table.js';
import { QueuePool } from './queue-pool.js';
import { type JobOptions, type RunnerObserver, runJobs } from './run-jobs.js';

/** Pauses between two runners while the database is unavailable. */
const RESTART_PAUSE_MS = { first: 250, longest: 2_000 };

/** Keeps a runner working from `run` until the service stops, and replaces it whenever it fails. */
export class JobQueue {
  readonly pool: QueuePool;
  #isWorking = false;
  /** Time of the last response to a fetch, of `performance.now()`. */
  #lastFetchAt = performance.now();
  /** Time at which the queue stopped; undefined while it works. */
  #stoppedAt: number | undefined;
  #pauseMs = RESTART_PAUSE_MS.first;

  constructor(
    databaseUrl: string,
    private readonly logger: Logger,
  ) {
    this.pool = new QueuePool(databaseUrl);
  }

  /** True while this process can fetch jobs: a worker of the current runner has received a response. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Seconds since a worker of this process received a response to its fetch: a job, or none. */
  get fetchAge(): number {
    return (performance.now() - this.#lastFetchAt) / 1000;
  }

  /**
   * Runs jobs until the service stops.
   * @param isExclusive true if no other process uses the database, so that every lock at the start is a dead process's
   */
  async run(options: Omit<JobOptions, 'pgPool'>, isExclusive: boolean, stopping: AbortSignal): Promise<void> {
    let locks: DeadLocks = isExclusive ? { olderThanSeconds: 0 } : {};
    const observer = {
      onStart: (workerId: string) => (locks = { workerId }),
      onFetch: () => {
        this.#lastFetchAt = performance.now();
        if (!this.#isWorking) this.#logStart();
        this.#isWorking = true;
      },
      onDead: (job: { readonly id: string; readonly task: string }) => {
        this.logDead(job, 'its process died');
      },
    };
    while (!stopping.aborted) {
      await this.#runOnce({ ...options, pgPool: this.pool }, locks, observer, stopping);
      this.#isWorking = false;
      await delay(this.#pauseMs, undefined, { signal: stopping }).catch(() => undefined);
      this.#pauseMs = Math.min(this.#pauseMs * 2, RESTART_PAUSE_MS.longest);
    }
  }

  /** Logs that a job is dead; this is the only line about it. */
  logDead({ id, task }: { readonly id: string; readonly task: string }, reason: string): void {
    this.logger.error(`dead job ${id} (${task}): ${reason}; see npm run jobs -- list --state dead`);
  }

  async #runOnce(
    options: JobOptions,
    locks: DeadLocks,
    observer: RunnerObserver,
    stopping: AbortSignal,
  ): Promise<void> {
    try {
      for (const job of await freeJobs(this.pool, locks)) observer.onDead(job);
      await runJobs(options, observer, this.logger, stopping);
    } catch (error) {
      if (!stopping.aborted) this.#logStop(error);
    }
  }

  /** Logs one line for several failures in a row. */
  #logStop(error: unknown): void {
    if (this.#stoppedAt !== undefined) return;
    this.#stoppedAt = performance.now();
    const reason = error instanceof Error ? error.message : String(error);
    this.logger.warn(`the queue stopped and restarts until it works: ${reason}`);
  }

  #logStart(): void {
    this.#pauseMs = RESTART_PAUSE_MS.first;
    if (this.#stoppedAt === undefined) return;
    const seconds = Math.round((performance.now() - this.#stoppedAt) / 1000);
    this.#stoppedAt = undefined;
    this.logger.log(`the queue works again after ${seconds} s`);
  }
}
