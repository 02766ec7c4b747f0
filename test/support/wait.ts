import { setTimeout as delay } from 'node:timers/promises';

/** Calls `ask` until its result is not undefined, null or false, and returns that result. Throws Error after the deadline. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  deadlineMs = 45_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const result = await ask();
    if (result !== undefined && result !== null && result !== false) return result;
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await delay(20);
  }
}

/** Calls a function this many times at the same time, with the number of the call, from 0. */
export function inParallel<T>(count: number, act: (n: number) => PromiseLike<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => act(n)));
}
