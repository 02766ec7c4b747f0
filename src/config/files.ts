import { randomBytes } from 'node:crypto';
import { accessSync, constants, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** The code of an error: `ENOENT`, a SQLSTATE, … Undefined if it has none. */
export function errorCode(error: unknown): string | undefined {
  // Not by `instanceof`: the errors of Node's own modules are of another realm under Jest.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** @throws Error in one line if DATA_DIR does not exist and cannot be made, or this user may not write to it */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = errorCode(error) ?? String(error);
    const hint = ': make this user the owner of all that is in it, or set DATA_DIR to another folder';
    const reason = code === 'EACCES' ? `is closed to this user (EACCES)${hint}` : `cannot be made (${code})`;
    throw new Error(`DATA_DIR ${dataDir} ${reason}`, { cause: error });
  }
}

/** The file's text, or undefined if there is no such file. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes a small file that is made once, and gives the text that it then holds: that of the first writer, if several
 * processes write at the same time. No reader and no crash ever sees a part of it.
 */
export function writeOnce(path: string, text: string, mode: number): string {
  const temporary = `${path}.tmp-${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, text, { mode, flag: 'wx', flush: true });
  try {
    linkSync(temporary, path); // unlike a rename, it does not replace what another process wrote
    return text;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return readFileSync(path, 'utf8');
    throw error;
  } finally {
    rmSync(temporary);
  }
}
