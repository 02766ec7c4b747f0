import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../files.js';
import { isAlive } from '../processes.js';

/** Where this process writes a backup until it is whole: beside its place, with the process in the name. */
export function partialOf(folder: string): string {
  return `${folder}.partial-${process.pid}`;
}

/**
 * Makes the folder that this process writes a backup into, once what interrupted backups to the same place left is
 * removed. What a process that runs is writing stays.
 * @returns what was removed
 */
export async function makePartial(folder: string): Promise<string[]> {
  await mkdir(dirname(folder), { recursive: true });
  const own = partialOf(folder);
  const removed: string[] = [];
  for (const name of await readdir(dirname(folder))) {
    const writer = writerOf(name, basename(folder));
    if (writer === undefined || (writer !== process.pid && (await isAlive(writer)))) continue;
    const path = join(dirname(folder), name);
    if (await take(path, own)) removed.push(path);
  }
  await mkdir(own, { mode: 0o700 });
  return removed;
}

function writerOf(name: string, folderName: string): number | undefined {
  const prefix = `${folderName}.partial-`;
  const number = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^\d{1,10}$/.test(number) ? Number(number) : undefined;
}

/**
 * Removes a folder under a name that is ours: whoever wrote it after all, in a container that shares the disk and not
 * the processes, fails to give it its final name and cannot take a half removed backup for a whole one.
 */
async function take(path: string, own: string): Promise<boolean> {
  if (path !== own) {
    try {
      await rename(path, own);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false; // another backup took it first
      throw error;
    }
  }
  await rm(own, { recursive: true, force: true });
  return true;
}
