import { warn } from './command-line.js';

const INTERVAL_MS = 1_000;
/** Items at a time, so that reading, writing and waiting overlap. */
const BATCH_SIZE = 8;

/** Runs a task and prints its progress on the standard error once a second. */
export async function withProgress<T>(describe: () => string, run: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    warn(describe());
  }, INTERVAL_MS);
  return await run().finally(() => {
    clearInterval(timer);
  });
}

/** Processes all items in batches and prints the progress. No further batch starts after a failure. */
export async function processInBatches<T>(
  items: readonly T[],
  noun: string,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  let done = 0;
  await withProgress(
    () => `${done} of ${items.length} ${noun}`,
    async () => {
      while (done < items.length) {
        const results = await Promise.allSettled(items.slice(done, done + BATCH_SIZE).map(act));
        for (const result of results) if (result.status === 'rejected') throw result.reason;
        done += results.length;
      }
    },
  );
}
