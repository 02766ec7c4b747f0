import { setTimeout as delay } from 'node:timers/promises';
import { countRunnableJobs, type Queryable, removeSupersededJobs, unlockStaleJobs } from './job-table.js';

/** Gap between two polls. */
const POLL_MS = 1_000;
/** Gap between two runs of the maintenance, which reads all jobs. */
const MAINTENANCE_MS = 5_000;

/**
 * Polls the queue until `ended` is aborted. A poll wakes workers for jobs that can run. LISTEN is not enough: nothing is sent when
 * a delayed job can run, and PgBouncer does not support it. Maintenance unlocks the jobs of dead processes, and removes failed
 * superseded jobs.
 * @param wake makes up to `count` idle workers fetch a job now
 */
export async function watchQueue(
  database: Queryable,
  wake: (count: number) => void,
  ended: AbortSignal,
): Promise<void> {
  let nextMaintenanceAt = 0;
  while (!ended.aborted) {
    if (performance.now() >= nextMaintenanceAt) {
      await unlockStaleJobs(database);
      await removeSupersededJobs(database);
      nextMaintenanceAt = performance.now() + MAINTENANCE_MS;
    }
    const runnable = await countRunnableJobs(database);
    if (runnable > 0) wake(runnable);
    await delay(POLL_MS, undefined, { signal: ended }).catch(() => undefined);
  }
}
