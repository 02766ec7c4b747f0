const PRINT_INTERVAL_MS = 1_000;
/** Number of items in a batch. They are processed concurrently, so that reading, writing and waiting overlap. */
const BATCH_SIZE = 8;

/** Processes items in batches and prints the progress once a second. No batch starts after a failure. Returns the results. */
export async function processWithProgress<T, R>(
  items: readonly T[],
  noun: string,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  const timer = setInterval(() => {
    console.error(`${done.length} of ${items.length} ${noun}`);
  }, PRINT_INTERVAL_MS);
  try {
    while (done.length < items.length) {
      // Wait for the whole batch even after a failure, because the caller then closes what the calls use.
      const results = await Promise.allSettled(items.slice(done.length, done.length + BATCH_SIZE).map(act));
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason;
        done.push(result.value);
      }
    }
    return done;
  } finally {
    clearInterval(timer);
  }
}
