import { setTimeout as delay } from 'node:timers/promises';

/** Reads a value every 50 ms until a promise settles. Returns the largest value. */
export async function measureMaximum(read: () => number | Promise<number>, work: Promise<unknown>) {
  let [maximum, isDone] = [0, false];
  const measuring = (async () => {
    while (!isDone) {
      maximum = Math.max(maximum, await read());
      await delay(50);
    }
  })();
  await Promise.all([work.finally(() => (isDone = true)), measuring]);
  return maximum;
}
