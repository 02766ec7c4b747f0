import { setTimeout as delay } from 'node:timers/promises';
import type { Queryable } from './job-table.js';
import { freeJobs, type NamedJob, settleFailedJobs, surveyJobs } from './queue-upkeep.js';

const SECOND = 1000;
const POLL_MS = SECOND;
/** Time without a fetch, although jobs are due and a worker is idle, after which a runner counts as stuck. */
const STUCK_AFTER_MS = 30 * SECOND;

export interface WatchedRunner {
  readonly isBusy: () => boolean; // every worker runs a job
  /** Returns `performance.now()` at the last response to a fetch. */
  readonly lastFetchAt: () => number;
  /** Makes up to `count` idle workers fetch a job now. */
  readonly wake: (count: number) => void;
  readonly onDeadJob: (job: NamedJob) => void;
}

/**
 * Polls the queue every second until `ended` is aborted. Throws if the runner is stuck. A poll wakes workers for due jobs,
 * frees jobs of dead processes, reports freed jobs that are now dead, makes permanently failed jobs dead, and removes failed
 * superseded jobs. LISTEN is not enough: nothing is sent when a delayed job is due, and PgBouncer does not support it.
 */
export async function watchQueue(
  database: Queryable,
  runner: WatchedRunner,
  ended: AbortSignal,
  stuckAfterMs = STUCK_AFTER_MS,
): Promise<void> {
  let lastHealthyAt = performance.now();
  while (!ended.aborted) {
    const { due, hasStaleLocks, hasUnsettled } = await surveyJobs(database);
    if (hasStaleLocks) for (const deadJob of await freeJobs(database)) runner.onDeadJob(deadJob);
    if (hasUnsettled) await settleFailedJobs(database);
    if (due === 0 || runner.isBusy()) lastHealthyAt = performance.now();
    else runner.wake(due);
    lastHealthyAt = Math.max(lastHealthyAt, runner.lastFetchAt());
    if (performance.now() - lastHealthyAt > stuckAfterMs)
      throw new Error(`no job was fetched for ${stuckAfterMs / SECOND} s although ${due} are due`);
    await delay(POLL_MS, undefined, { signal: ended }).catch(() => undefined);
  }
}
