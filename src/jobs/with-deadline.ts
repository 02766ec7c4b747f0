import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for a job's work until the deadline.
 *
 * @param stopped aborted when the queue stops and has waited long enough for its jobs
 * @throws Error of the work, or that the deadline passed or the queue stopped
 */
export async function withinDeadline(
  work: Promise<unknown>,
  task: string,
  deadlineMs: number,
  stopped: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const end = delay(deadlineMs, `took longer than ${deadlineMs} ms`, {
    signal: AbortSignal.any([stopped, done.signal]),
  }).catch(() => 'was still running when the service stopped');
  const cutOff = end.then((reason) => {
    throw new Error(`${task} ${reason}`);
  });
  await Promise.race([work, cutOff]).finally(() => {
    done.abort();
  });
}
