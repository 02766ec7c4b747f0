import { existsSync, rmSync } from 'node:fs';

const MAX_REMOVALS = 20;

/**
 * Creates a folder, calls `use` with its path, and then removes the folder. Also removes the folder if a signal ends the command
 * meanwhile.
 * @param create synchronous, so that no signal ends the command between the creation and the first step of `use`
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

/** Removes the folder, although calls of `use` that Node's threads still run may create files in it meanwhile. */
function removeFolder(folder: string): void {
  for (let count = 1; existsSync(folder); count++)
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (count === MAX_REMOVALS) throw error;
    }
}
