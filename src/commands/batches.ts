import { withProgress } from './progress.js';

/** Keeps the disk and the database busy at the same time. */
const BATCH_SIZE = 8;

/**
 * Processes all items in batches. No further batch starts after a failure.
 * @param noun plural name of the items for the progress: `120 of 1000 products`
 */
export async function processInBatches<T>(
  items: readonly T[],
  noun: string,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  let done = 0;
  const actOnAllItems = async () => {
    for (; done < items.length; done += BATCH_SIZE) {
      const results = await Promise.allSettled(items.slice(done, done + BATCH_SIZE).map(act));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
  };
  await withProgress(() => `${Math.min(done, items.length)} of ${items.length} ${noun}`, actOnAllItems);
}
