import { warn } from './command-line.js';

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
  let told = Date.now();
  for (let done = 0; done < items.length; done += WIDTH) {
    const results = await Promise.allSettled(items.slice(done, done + WIDTH).map(act));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    if (Date.now() - told < INTERVAL_MS) continue;
    told = Date.now();
    warn(`${Math.min(done + WIDTH, items.length)} of ${items.length} ${what}`);
  }
}
