/** Enough to keep a disk or a database busy while others wait for theirs. */
const WIDTH = 8;

/** Does something with every item, a few at a time. The first failure ends it once those under way have ended. */
export async function sideBySide<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let done = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (const item of queue) {
      try {
        await act(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
      if (hasFailed) return;
      done += 1;
      progress(done, items.length);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: WIDTH }, work));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
}
