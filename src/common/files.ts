import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { errorCode, errorMessage } from './errors/error-info.js';

/**
 * Creates DATA_DIR unless it exists.
 * @throws Error with one line if DATA_DIR cannot be created, or if this user cannot read and write it
 */
export function createDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = errorCode(error) ?? String(error);
    const hint =
      ': make this user the owner of the folder and its content, or set DATA_DIR to another folder';
    const reason =
      code === 'EACCES' ? `is not accessible to this user (EACCES)${hint}` : `cannot be used (${code})`;
    throw new Error(`DATA_DIR ${dataDir} ${reason}`, { cause: error });
  }
}

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a file atomically unless it exists. Returns the content of the file afterwards. */
export function writeOnce(path: string, text: string, mode: number): string {
  // An existing file must be readable even if the disk is full.
  if (existsSync(path)) return readFileSync(path, 'utf8');
  const temporary = `${path}.tmp-${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(temporary, text, { mode, flag: 'wx', flush: true });
    linkSync(temporary, path); // unlike a rename, a link does not replace an existing file
    return text;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return readFileSync(path, 'utf8');
    throw new Error(`${path} cannot be written: ${errorMessage(error)}`, { cause: error });
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Writes a file, or the entries of a folder, to the disk. Flushing a file does not flush its entry in the folder. */
export async function flushToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
