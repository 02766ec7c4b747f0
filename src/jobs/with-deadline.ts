import { setTimeout as delay } from 'node:timers/promises';

/** @param stopped aborted when the queue has stopped and does not wait for its jobs any longer */
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
