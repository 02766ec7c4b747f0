import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, errorMessage, isDatabaseUnavailable } from '../common/errors/error-info.js';

/** Time for which a start waits for a primary. */
export const PRIMARY_WAIT_MS = 60_000;
const LOG_INTERVAL_MS = 5_000;
const RETRY_PAUSE_MS = 500;

/**
 * Calls `start`, and repeats the call until the deadline while no primary is available, so that a start during a failover
 * succeeds.
 * @param deadline time of `performance.now()`
 * @throws the last error of `start`: at once if waiting does not help, otherwise after the deadline or a stop
 */
export async function retryUntilPrimary<T>(
  start: () => Promise<T>,
  log: (message: string) => void,
  deadline: number,
  stopping: AbortSignal,
): Promise<T> {
  let nextLogAt = 0;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const now = performance.now();
      if (!isPrimaryMissing(error) || now > deadline || stopping.aborted) throw error;
      if (now >= nextLogAt) {
        log(`waiting for the database: ${errorMessage(error)}`);
        nextLogAt = now + LOG_INTERVAL_MS;
      }
      await delay(RETRY_PAUSE_MS, undefined, { signal: stopping }).catch(() => {
        throw error;
      });
    }
  }
}

/** Returns false for unknown host names: they are a mistake in DATABASE_URL, and waiting does not help. */
function isPrimaryMissing(error: unknown): boolean {
  // `openDatabase` wraps the driver's error.
  const failure = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isDatabaseUnavailable(failure) && errorCode(failure) !== 'ENOTFOUND';
}
