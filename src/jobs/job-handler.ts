import { setTimeout as delay } from 'node:timers/promises';

/** Work of a job, which must be idempotent. After an error the job is retried, except after a PermanentJobError. */
export type JobHandler<P> = (payload: P) => Promise<unknown>;

/** Thrown by a handler when no retry can succeed. The job becomes dead without a retry. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}

/**
 * Waits for the work of a job. Rejects after the deadline, or when `stopped` is aborted, even if the work continues.
 * @param stopped aborted when the queue has stopped and does not wait for its jobs any longer
 */
export async function withDeadline(
  work: Promise<unknown>,
  task: string,
  deadlineMs: number,
  stopped: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const signal = AbortSignal.any([stopped, done.signal]);
  const deadline = delay(deadlineMs, `took longer than ${deadlineMs} ms`, { signal })
    .catch(() => 'was still running when the service stopped')
    .then((reason) => Promise.reject(new Error(`${task} ${reason}`)));
  await Promise.race([work, deadline]).finally(() => {
    // Ends the timer. The rejection of `deadline` is ignored, because the race is over.
    done.abort();
  });
}
