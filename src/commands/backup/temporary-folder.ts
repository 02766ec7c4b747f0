import { existsSync, rmSync } from 'node:fs';

const MAX_REMOVALS = 20;

/**
 * Calls `use` with a new folder, and then removes the folder. Also removes the folder if a signal ends the command meanwhile.
 * Nothing may be awaited between the creation of the folder and this call: a signal could end the command there.
 */
export async function withTemporaryFolder<T>(
  folder: string,
  use: (folder: string) => Promise<T>,
): Promise<T> {
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
 * Removes the folder, although calls of `use` that Node's threads still run may create files in it meanwhile. The option
 * `maxRetries` of `rmSync` does not remove such files.
 */
function removeFolder(folder: string): void {
  for (let count = 1; existsSync(folder); count++)
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (count === MAX_REMOVALS) throw error;
    }
}
