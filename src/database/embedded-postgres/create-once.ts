import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const TEMPORARY_PREFIX = 'postgres.tmp-';
const REMOVAL = { recursive: true, force: true, maxRetries: 3 };

/**
 * Creates a folder under a temporary name and renames it, so that a crash never leaves an incomplete folder at `path`.
 * @param proof name of an entry that every complete folder contains
 * @returns false if another process created the folder first
 */
export async function createOnce(
  path: string,
  proof: string,
  create: (folder: string) => Promise<void>,
): Promise<boolean> {
  const temporary = await mkdtemp(join(dirname(path), TEMPORARY_PREFIX));
  try {
    await create(join(temporary, 'draft'));
    await rename(join(temporary, 'draft'), path);
    return true;
  } catch (error) {
    // Another process may have created the folder first, and removed this draft with `removeTemporaryFolders`.
    if (existsSync(join(path, proof))) return false;
    throw error;
  } finally {
    await rm(temporary, REMOVAL);
  }
}

/** Removes all temporary folders of `createOnce`, also those that killed processes left behind. */
export async function removeTemporaryFolders(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(TEMPORARY_PREFIX));
  for (const name of names) await rm(join(parent, name), REMOVAL);
}
