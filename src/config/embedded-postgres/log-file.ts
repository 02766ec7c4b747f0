import { copyFile, open, stat, truncate } from 'node:fs/promises';

const MAXIMUM_BYTES = 5 * 1024 * 1024;
const CHECK_INTERVAL_MS = 5_000;
const TAIL_BYTES = 16 * 1024;

/**
 * Keeps the server's log bounded: past 5 MiB its text becomes `<path>.1` and the file begins anew. The server
 * appends to the file by itself, not through a pipe, so that it outlives a crash of this process.
 * @returns ends the watch
 */
export function boundLogFile(path: string): () => void {
  void shorten(path);
  const timer = setInterval(() => {
    void shorten(path);
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

/** Never rejects: a log that cannot be shortened now is tried again, and is no reason to end the service. */
async function shorten(path: string): Promise<void> {
  try {
    if ((await stat(path)).size <= MAXIMUM_BYTES) return;
    await copyFile(path, `${path}.1`);
    await truncate(path);
  } catch {
    // A full disk or a file that an operator moved: the next round finds it again or not.
  }
}

/** What one process of the server (`[pid]` in each line's prefix) wrote last, at most 20 lines. */
export async function logTail(path: string, pid: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(TAIL_BYTES),
      position: Math.max(0, size - TAIL_BYTES),
    });
    const lines = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n');
    // A line without any prefix comes from before logging was set up: a loader error, a bad setting.
    const mine = lines.filter((line) => line.includes(`[${pid}]`) || !/\[\d+\]/.test(line));
    return mine.slice(-20).join('\n');
  } finally {
    await file.close();
  }
}
