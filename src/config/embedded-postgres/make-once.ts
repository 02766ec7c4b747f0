import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const UNFINISHED = 'postgres.tmp-';
const REMOVAL = { recursive: true, force: true, maxRetries: 3 };

/**
 * Makes a folder so that neither a crash nor two processes at once leave half of one: beside its place, then renamed.
 * @param proof a name in it that says that it was made
 * @param fill makes it at the path that it gets, which is in a folder of its own that only this user can enter
 * @returns whether this call made it; false if another process was quicker
 */
export async function makeOnce(
  path: string,
  proof: string,
  fill: (draft: string) => Promise<void>,
): Promise<boolean> {
  const workshop = await mkdtemp(join(dirname(path), UNFINISHED));
  try {
    await fill(join(workshop, 'draft'));
    await rename(join(workshop, 'draft'), path);
    return true;
  } catch (error) {
    if (existsSync(join(path, proof))) return false;
    throw error;
  } finally {
    await rm(workshop, REMOVAL);
  }
}

/** Removes what calls of `makeOnce` that were killed left in a folder. */
export async function removeUnfinished(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(UNFINISHED));
  for (const name of names) await rm(join(parent, name), REMOVAL);
}
