import { setTimeout as delay } from 'node:timers/promises';
import type { Queryable } from './job-table.js';
import { freeJobs, type NamedJob, settleFailedJobs, surveyJobs } from './queue-upkeep.js';

const SECOND = 1000;
const LOOK_MS = SECOND;
/** Time without a fetch, although jobs are due, after which a runner counts as stuck. */
const PATIENCE_MS = 30 * SECOND;

export interface Watched {
  readonly isBusy: () => boolean;
  /** Time of the last response to a fetch, of `performance.now()`. */
  readonly lastFetchAt: () => number;
  /** Makes up to `count` idle workers fetch a job now. */
  readonly wake: (count: number) => void;
  readonly onDead: (job: NamedJob) => void;
}

/**
 * Polls the queue every second until `over` is aborted: wakes workers when jobs are due, frees the jobs of dead
 * processes and settles failed jobs. LISTEN is not enough: jobs with a later `run_at` are never announced, and PgBouncer
 * does not support LISTEN.
 */
export async function watchQueue(
  database: Queryable,
  runner: Watched,
  over: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  let workedAt = performance.now();
  while (!over.aborted) {
    const { due, hasDeadLocks, hasUnsettled } = await surveyJobs(database);
    if (hasDeadLocks) for (const job of await freeJobs(database)) runner.onDead(job);
    if (hasUnsettled) await settleFailedJobs(database);
    if (due === 0 || runner.isBusy()) workedAt = performance.now();
    else runner.wake(due);
    workedAt = Math.max(workedAt, runner.lastFetchAt());
    if (performance.now() - workedAt > patienceMs)
      throw new Error(`no job was fetched for ${patienceMs / SECOND} s although ${due} are due`);
    await delay(LOOK_MS, undefined, { signal: over }).catch(() => undefined);
  }
}
