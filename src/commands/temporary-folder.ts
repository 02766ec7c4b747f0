import { rmSync } from 'node:fs';

/** Calls `use` and then removes the folder. Also removes the folder if a signal ends the command meanwhile. */
export async function withTemporaryFolder<T>(folder: string, use: () => Promise<T>): Promise<T> {
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once('exit', remove);
  try {
    return await use();
  } finally {
    process.off('exit', remove);
    remove();
  }
}
