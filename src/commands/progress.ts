const INTERVAL_MS = 1_000;

/**
 * Tells on the standard error how far long work has come, at most once a second, and nothing of work that is done
 * within one.
 * @param what is counted, as in `120 of 1000 products`
 */
export function progressOf(what: string): (done: number, total: number) => void {
  let told = Date.now();
  let hasTold = false;
  return (done, total) => {
    const isEnd = done === total && hasTold;
    if (!isEnd && Date.now() - told < INTERVAL_MS) return;
    told = Date.now();
    hasTold = true;
    process.stderr.write(`${done} of ${total} ${what}\n`);
  };
}
