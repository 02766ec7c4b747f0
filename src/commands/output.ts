const PRINT_INTERVAL_MS = 1_000;
/** Items of a batch are processed concurrently, so that reading, writing and waiting overlap. */
const BATCH_SIZE = 8;

/** Prints a line of the result on the standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints progress or a warning on the standard error, so that the standard output contains only the result. */
export function printStatus(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Processes all items in batches and prints the progress once a second. No further batch starts after a failure. */
export async function processInBatches<T>(
  items: readonly T[],
  noun: string,
  act: (item: T) => Promise<unknown>,
  batchSize = BATCH_SIZE,
): Promise<void> {
  let done = 0;
  const timer = setInterval(() => {
    printStatus(`${done} of ${items.length} ${noun}`);
  }, PRINT_INTERVAL_MS);
  try {
    while (done < items.length) {
      const results = await Promise.allSettled(items.slice(done, done + batchSize).map(act));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
      done += results.length;
    }
  } finally {
    clearInterval(timer);
  }
}
