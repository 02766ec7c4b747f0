/** Number of items that are processed concurrently, so that reading, writing and waiting overlap. */
const BATCH_SIZE = 8;

/** Processes items in batches. Returns the results in the order of the items. */
export async function mapInBatches<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  while (results.length < items.length) {
    const batch = items.slice(results.length, results.length + BATCH_SIZE);
    // After a failure, wait for the rest of the batch, which must not use the database after it has been closed.
    for (const result of await Promise.allSettled(batch.map(act))) {
      if (result.status === 'rejected') throw result.reason;
      results.push(result.value);
    }
  }
  return results;
}
