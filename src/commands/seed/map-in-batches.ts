/** Number of items that are processed concurrently, so that reading, writing and waiting overlap. */
const BATCH_SIZE = 8;

/** Processes items in batches. Returns the results in the order of the items. No batch starts after a failure. */
export async function mapInBatches<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  while (results.length < items.length) {
    const batch = items.slice(results.length, results.length + BATCH_SIZE);
    results.push(...(await Promise.all(batch.map(act))));
  }
  return results;
}
