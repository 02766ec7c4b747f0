import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../common/errors/database-errors.js';
import { errorCode, errorMessage } from '../common/errors/error-info.js';

const MAX_WAIT_MS = 60_000;
const LOG_INTERVAL_MS = 5_000;
const RETRY_PAUSE_MS = 500;

/** Retries the steps of a start for up to 60 seconds in total, so that a start during a failover succeeds. */
export class PrimaryWait {
  readonly #deadline = performance.now() + MAX_WAIT_MS;
  #nextLogAt = 0;

  constructor(
    private readonly log: (message: string) => void,
    private readonly stopping: AbortSignal,
  ) {}

  /** @throws the step's error: at once unless the primary is missing, otherwise after the deadline or a stop */
  async retry<T>(step: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        const now = performance.now();
        if (!isPrimaryMissing(error) || now > this.#deadline || this.stopping.aborted) throw error;
        if (now >= this.#nextLogAt) {
          this.log(`waiting for the database: ${errorMessage(error)}`);
          this.#nextLogAt = now + LOG_INTERVAL_MS;
        }
        await delay(RETRY_PAUSE_MS, undefined, { signal: this.stopping }).catch(() => undefined);
      }
    }
  }
}

/** Returns false for unknown host names: they are a mistake in DATABASE_URL, and waiting does not help. */
function isPrimaryMissing(error: unknown): boolean {
  // `openDatabase` wraps the driver's error.
  const failure = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isDatabaseUnavailable(failure) && errorCode(failure) !== 'ENOTFOUND';
}
