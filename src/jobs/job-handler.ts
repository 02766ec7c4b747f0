import { setTimeout as delay } from 'node:timers/promises';

/** Work of a job, which must be idempotent. After an error the job is retried, except after a PermanentJobError. */
export type JobHandler<P> = (payload: P) => Promise<unknown>;

/** Thrown by a handler when no retry can succeed. The job becomes dead without a retry. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}

/**
 * Waits for the work of a job. Rejects after the deadline, or when `stopped` is aborted, even if the work continues. The queue
 * aborts `stopped` when it does not wait for its jobs any longer.
 */
export async function withDeadline(
  work: Promise<unknown>,
  { task, deadlineMs, stopped }: { task: string; deadlineMs: number; stopped: AbortSignal },
): Promise<void> {
  const done = new AbortController();
  const signal = AbortSignal.any([stopped, done.signal]);
  const deadline = delay(deadlineMs, undefined, { signal }).then(
    () => {
      throw new Error(`${task} took longer than ${deadlineMs} ms`);
    },
    () => {
      throw new Error(`${task} was still running when the service stopped`);
    },
  );
  await Promise.race([work, deadline]).finally(() => {
    // Ends the timer. The rejection of `deadline` is ignored, because the race is over.
    done.abort();
  });
}
