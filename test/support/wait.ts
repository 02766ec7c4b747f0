import { setTimeout as delay } from 'node:timers/promises';

/** Shorter than the timeout of a test, so that the error shows the line that waits. */
export const DEADLINE_MS = 45_000;

type Missing = undefined | null | false;

/** Calls `poll` until its result is not undefined, null or false, and returns that result. Throws Error after the deadline. */
export async function until<T>(
  description: string,
  poll: () => Promise<T | Missing> | T | Missing,
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const result = await poll();
    if (result !== undefined && result !== null && result !== false) return result;
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${description}`);
    await delay(20);
  }
}

/** Creates a promise that the test settles. Replaces `Promise.withResolvers`, which needs Node 22. */
export function createDeferred() {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((...functions) => ([resolve, reject] = functions));
  return { promise, resolve, reject };
}

/** Calls a function `count` times in parallel. Passes the number of the call, which starts at 0. */
export function inParallel<T>(count: number, act: (n: number) => PromiseLike<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => act(n)));
}

/** Returns the statuses of responses in ascending order, because parallel requests end in any order. */
export function sortedStatusesOf(responses: readonly { readonly status: number }[]): number[] {
  return responses.map(({ status }) => status).sort((a, b) => a - b);
}
