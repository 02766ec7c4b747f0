import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for something that must not keep the process: a database that does not answer holds every part of a stop for
 * longer than a supervisor waits.
 * @param deadline as of `Date.now()`
 * @returns whether it ended in time
 * @throws what `work` throws in time
 */
export async function endsBefore(deadline: number, work: Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  const overdue = delay(Math.max(0, deadline - Date.now()), false, { signal: timer.signal }).catch(() => {
    // It ended in time.
    return true;
  });
  try {
    return await Promise.race([work.then(() => true), overdue]);
  } finally {
    timer.abort();
  }
}
