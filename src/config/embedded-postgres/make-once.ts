import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const UNFINISHED = 'postgres.tmp-';
const REMOVAL = { recursive: true, force: true, maxRetries: 3 };

/**
 * Makes a folder under another name and renames it, so that neither a crash nor two processes at once leave half of one.
 * @param proof a file or folder that is in it once it was made
 * @param fill makes it at the path that it is given, inside a folder that only this user can enter
 * @returns whether this call made it; false if another process was quicker
 */
export async function makeOnce(
  path: string,
  proof: string,
  fill: (draft: string) => Promise<void>,
): Promise<boolean> {
  const temporary = await mkdtemp(join(dirname(path), UNFINISHED));
  try {
    await fill(join(temporary, 'draft'));
    await rename(join(temporary, 'draft'), path);
    return true;
  } catch (error) {
    if (existsSync(join(path, proof))) return false;
    throw error;
  } finally {
    await rm(temporary, REMOVAL);
  }
}

/** Removes what `makeOnce` left in a folder where the process was killed. */
export async function removeUnfinished(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(UNFINISHED));
  for (const name of names) await rm(join(parent, name), REMOVAL);
}
