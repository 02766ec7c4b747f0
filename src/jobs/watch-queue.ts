import { setTimeout as delay } from 'node:timers/promises';
import { countRunnableJobs, type Queryable, removeSupersededJobs, unlockStaleJobs } from './job-table.js';
import { logDeadJobs } from './log-dead-jobs.js';

const TIMES = {
  /** Gap between two polls. */
  pollMs: 1_000,
  /** Gap between two runs of the maintenance, which reads all jobs. */
  maintenanceMs: 5_000,
  /** A runner is stuck if no worker fetches for this time although jobs can run and a worker is idle. */
  stuckAfterMs: 30_000,
};

export interface WatchedRunner {
  /** Returns true if every worker runs a job. */
  readonly isBusy: () => boolean;
  /** Returns `performance.now()` at the last response to a fetch. */
  readonly lastFetchAt: () => number;
  /** Makes up to `count` idle workers fetch a job now. */
  readonly wake: (count: number) => void;
}

/**
 * Polls the queue until `ended` is aborted. Throws if the runner is stuck. A poll wakes workers for jobs that can run. LISTEN is
 * not enough: nothing is sent when a delayed job can run, and PgBouncer does not support it. Maintenance unlocks the jobs of
 * dead processes, and removes failed superseded jobs.
 */
export async function watchQueue(
  database: Queryable,
  runner: WatchedRunner,
  ended: AbortSignal,
  { pollMs, maintenanceMs, stuckAfterMs } = TIMES,
): Promise<void> {
  let lastHealthyAt = performance.now();
  let nextMaintenanceAt = 0;
  while (!ended.aborted) {
    if (performance.now() >= nextMaintenanceAt) {
      logDeadJobs(await unlockStaleJobs(database));
      await removeSupersededJobs(database);
      nextMaintenanceAt = performance.now() + maintenanceMs;
    }
    const runnable = await countRunnableJobs(database);
    if (runnable === 0 || runner.isBusy()) lastHealthyAt = performance.now();
    else runner.wake(runnable);
    lastHealthyAt = Math.max(lastHealthyAt, runner.lastFetchAt());
    if (performance.now() - lastHealthyAt > stuckAfterMs)
      throw new Error(`no job was fetched for ${stuckAfterMs / 1000} s (jobs that can run: ${runnable})`);
    await delay(pollMs, undefined, { signal: ended }).catch(() => undefined);
  }
}
