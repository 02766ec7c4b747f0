/** Enough to keep a disk or a database busy while others wait for theirs. */
const WIDTH = 8;
const INTERVAL_MS = 1_000;

/**
 * Does something with every item, a few at a time. The first failure ends it once those under way have ended. Work
 * that takes longer than a second tells on the standard error how far it has come.
 * @param what the items are: `120 of 1000 products`
 */
export async function sideBySide<T>(
  items: readonly T[],
  what: string,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  // A worker that fails closes the generator, so that no other takes a further item.
  const queue = (function* () {
    yield* items;
  })();
  let done = 0;
  let told = Date.now();
  const work = async (): Promise<void> => {
    for (const item of queue) {
      await act(item);
      done += 1;
      if (Date.now() - told < INTERVAL_MS) continue;
      told = Date.now();
      process.stderr.write(`${done} of ${items.length} ${what}\n`);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: WIDTH }, work));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
}
