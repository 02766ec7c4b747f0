import { existsSync, rmSync } from 'node:fs';

const MAX_TRIES = 20;

/**
 * Creates a folder, calls `use`, and removes the folder. Also removes the folder if the process exits meanwhile, as `runCommand`
 * does after a signal.
 * @param create synchronous: no signal can end the command between the creation and `process.once`
 */
export async function withTemporaryFolder<T>(
  create: () => string,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = create();
  const remove = (): void => {
    removeFolder(folder);
  };
  process.once('exit', remove);
  try {
    return await use(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/**
 * Removes the folder. Retries, because Node's threads may still run file operations that `use` has started, and these can create
 * files during the removal. `maxRetries` of `rmSync` does not cover that.
 */
function removeFolder(folder: string): void {
  for (let count = 1; existsSync(folder); count++)
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (count >= MAX_TRIES) throw error;
    }
}
