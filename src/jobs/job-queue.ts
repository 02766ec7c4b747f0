import type { Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../common/errors/error-info.js';
import { QueuePool } from './queue-pool.js';
import { freeJobs, type NamedJob, RUNNER_LOST, type StaleLocks } from './queue-upkeep.js';
import { type JobOptions, runJobs, type RunnerObserver } from './run-jobs.js';

const RESTART_PAUSE_MS = 500;

export class JobQueue {
  readonly pool: QueuePool;
  #isWorking = false;
  /** `performance.now()` at the last response to a fetch; before the first response, at the construction. */
  #lastFetchAt = performance.now();
  #stoppedAt: number | undefined;

  constructor(
    databaseUrl: string,
    private readonly logger: Logger,
  ) {
    this.pool = new QueuePool(databaseUrl);
  }

  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Seconds since a worker of this process last received a response to a fetch, with or without a job. */
  get fetchAge(): number {
    return (performance.now() - this.#lastFetchAt) / 1000;
  }

  /** @param isExclusive true if no other process runs jobs on the database */
  async run(options: JobOptions, isExclusive: boolean, stopping: AbortSignal): Promise<void> {
    // Locks to free before the next runner starts. First: all locks if `isExclusive`, otherwise those older than the default of
    // `freeJobs`. Later: also the locks of the previous runner.
    let staleLocks: StaleLocks = isExclusive ? { olderThanSeconds: 0 } : {};
    const observer: RunnerObserver = {
      onStart: (runnerId) => (staleLocks = { runnerId }),
      onFetch: () => {
        this.#lastFetchAt = performance.now();
        if (!this.#isWorking) this.#logRecovery();
        this.#isWorking = true;
      },
      lastFetchAt: () => this.#lastFetchAt,
      onDeadJob: (job) => {
        this.logDead(job, RUNNER_LOST);
      },
    };
    while (!stopping.aborted) {
      try {
        for (const job of await freeJobs(this.pool, staleLocks)) observer.onDeadJob(job);
        await runJobs(this.pool, options, observer, this.logger, stopping);
      } catch (error) {
        this.#logStop(error, stopping);
      }
      this.#isWorking = false;
      await delay(RESTART_PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  logDead({ id, task }: NamedJob, reason: string): void {
    this.logger.error(`dead job ${id} (${task}): ${reason}; see npm run jobs -- list --state dead`);
  }

  #logStop(error: unknown, stopping: AbortSignal): void {
    if (stopping.aborted || this.#stoppedAt !== undefined) return;
    this.#stoppedAt = performance.now();
    this.logger.warn(`the queue stopped and restarts until it works: ${errorMessage(error)}`);
  }

  #logRecovery(): void {
    if (this.#stoppedAt === undefined) return;
    const seconds = Math.round((performance.now() - this.#stoppedAt) / 1000);
    this.#stoppedAt = undefined;
    this.logger.log(`the queue works again after ${seconds} s`);
  }
}
