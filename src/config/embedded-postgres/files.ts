import { randomBytes } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';

/** The code of a failed system call (`ENOENT`, …), or undefined if `error` is none. */
export function errorCode(error: unknown): string | undefined {
  const code = propertyOf(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

/** What a failed program printed on its standard error, else the error's message. */
export function errorText(error: unknown): string {
  const stderr = propertyOf(error, 'stderr');
  if (typeof stderr === 'string' && stderr.trim() !== '') return stderr.trim();
  return String(propertyOf(error, 'message') ?? error);
}

// Not by `instanceof`: the errors of Node's own modules are of another realm under Jest.
function propertyOf(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined;
}

/** A path beside `path` that nobody else uses. */
export function temporarySibling(path: string): string {
  return `${path}.tmp-${randomBytes(6).toString('hex')}`;
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
 * Writes a file that is made once, and gives the text it then holds: that of the first writer, if several
 * processes write at the same time. No reader and no crash ever sees a part of it.
 */
export async function writeOnce(path: string, text: string, mode: number): Promise<string> {
  const temporary = temporarySibling(path);
  const file = await open(temporary, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await link(temporary, path); // unlike rename, refuses to replace what another process wrote
    return text;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return await readFile(path, 'utf8');
    throw error;
  } finally {
    await file.close();
    await unlink(temporary);
  }
}

/** Makes renames and new files inside a folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
