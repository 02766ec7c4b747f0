import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, readIfPresent, syncFolder } from '../files.js';
import { isAlive } from '../processes.js';

const MARK = 'restore-unfinished.json';

interface Mark {
  readonly process: number;
  readonly backup: string;
  readonly began: string;
}

/**
 * Keeps services off a DATA_DIR that a restore was interrupted in: they would find no database there and make an
 * empty one, or find one whose images have not come yet.
 * @throws Error
 */
export async function refuseUnfinishedRestore(dataDir: string): Promise<void> {
  const mark = await readMark(dataDir);
  if (mark === undefined) return;
  throw new Error(
    `a restore of ${mark.backup} into ${dataDir} began at ${mark.began} and has not ended: ` +
      'wait for it or, if it was interrupted, run it again',
  );
}

/**
 * Marks a DATA_DIR as being restored.
 * @returns when a restore that was interrupted there began, if there was one
 * @throws Error while another restore runs
 */
export async function markRestore(dataDir: string, backup: string): Promise<string | undefined> {
  await mkdir(dataDir, { recursive: true });
  const former = await readMark(dataDir);
  if (former !== undefined) {
    if (await isAlive(former.process)) {
      throw new Error(
        `process ${former.process} is restoring into ${dataDir}; if that is another program's process, ` +
          `remove ${join(dataDir, MARK)}`,
      );
    }
    await rm(join(dataDir, MARK), { force: true });
  }
  const mark: Mark = { process: process.pid, backup, began: new Date().toISOString() };
  let file;
  try {
    file = await open(join(dataDir, MARK), 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) === 'EEXIST')
      throw new Error(`another restore into ${dataDir} has just begun`, { cause: error });
    throw error;
  }
  try {
    await file.writeFile(`${JSON.stringify(mark)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(dataDir);
  return former?.began;
}

/** Removes the mark. */
export async function unmarkRestore(dataDir: string): Promise<void> {
  await rm(join(dataDir, MARK), { force: true });
  await syncFolder(dataDir);
}

async function readMark(dataDir: string): Promise<Mark | undefined> {
  const text = await readIfPresent(join(dataDir, MARK));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Mark;
  } catch {
    // Cut off while it was written: there was a restore, and it had not begun to change anything.
    return { process: 0, backup: 'a backup', began: 'an unknown time' };
  }
}
