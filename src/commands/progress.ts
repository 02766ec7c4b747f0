import { warn } from './command-line.js';

const INTERVAL_MS = 1_000;

/** Runs a task and prints its progress on the standard error once a second. */
export async function withProgress<T>(describe: () => string, run: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    warn(describe());
  }, INTERVAL_MS);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}
