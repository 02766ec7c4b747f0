import { createHash } from 'node:crypto';
import { chown, type FileHandle, mkdir, open, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, syncFolder } from '../files.js';

const PIECE_BYTES = 256 * 1024;

/** What a file's content is known by. */
export interface Fingerprint {
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** How a copied file is to be; the user only where this is root. */
export interface Ownership {
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Files and folders below a folder, as paths relative to it with `/`. Those that vanish meanwhile are left out. */
export interface Tree {
  readonly files: string[];
  readonly folders: string[];
}

/** Lists a folder that may be changing. @param wants decides of each path; a folder that is not wanted is not entered */
export async function listTree(root: string, wants: (path: string) => boolean): Promise<Tree> {
  const tree: Tree = { files: [], folders: [] };
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await entriesOf(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!wants(path)) continue;
      if (entry.isDirectory()) {
        tree.folders.push(path);
        await walk(path);
      } else if (entry.isFile()) {
        tree.files.push(path);
      } else {
        throw new Error(`${join(root, path)} is neither a file nor a folder: it cannot be backed up`);
      }
    }
  };
  await walk('');
  return tree;
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []; // a database or a table was dropped
    throw error;
  }
}

/**
 * Copies a file that may be growing, shrinking or going, as long as it was when it was opened, and syncs the copy.
 * @returns what was written; undefined if there is no such file
 */
export async function copyFile(
  from: string,
  to: string,
  ownership: Ownership,
): Promise<Fingerprint | undefined> {
  let source: FileHandle;
  try {
    source = await open(from, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return await write(to, piecesOf(source, (await source.stat()).size), ownership);
  } finally {
    await source.close();
  }
}

/** Writes a new file and syncs it. */
export async function write(
  path: string,
  content: Iterable<Buffer> | AsyncIterable<Buffer>,
  { mode, owner }: Ownership,
): Promise<Fingerprint> {
  const target = await open(path, 'wx', mode);
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const piece of content) {
      hash.update(piece);
      size += piece.length;
      await target.writeFile(piece);
    }
    await target.chmod(mode); // whatever the umask is
    if (owner !== undefined) await target.chown(owner.uid, owner.gid);
    await target.sync();
  } finally {
    await target.close();
  }
  return { size, sha256: hash.digest('hex') };
}

/** @returns undefined if there is no such file */
export async function fingerprintOf(path: string): Promise<Fingerprint | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const hash = createHash('sha256');
    let size = 0;
    for await (const piece of piecesOf(file, Number.MAX_SAFE_INTEGER)) {
      hash.update(piece);
      size += piece.length;
    }
    return { size, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

/** Pieces share their memory: each is valid until the next is asked for. */
async function* piecesOf(file: FileHandle, size: number): AsyncGenerator<Buffer, void, undefined> {
  const memory = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES));
  for (let position = 0; position < size;) {
    const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, size - position), position);
    if (bytesRead === 0) return;
    yield memory.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** Reads a small file that the server overwrites in place, until it reads the same twice. */
export async function readSettled(path: string): Promise<Buffer> {
  for (let last = await readFile(path); ;) {
    const next = await readFile(path);
    if (next.equals(last)) return next;
    last = next;
  }
}

/** Makes the folders that files need below a root, and remembers them for `sync`. */
export class Folders {
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(private readonly mode: number) {}

  /** Makes a folder and those above it. */
  make(path: string): Promise<unknown> {
    let made = this.#made.get(path);
    if (made === undefined) {
      made = mkdir(path, { recursive: true, mode: this.mode });
      this.#made.set(path, made);
    }
    return made;
  }

  /** Makes the folder that a file lies in. */
  makeFor(file: string): Promise<unknown> {
    return this.make(dirname(file));
  }

  /** Gives all of them to a user. */
  async give(owner: { readonly uid: number; readonly gid: number }): Promise<void> {
    for (const path of this.#made.keys()) await chown(path, owner.uid, owner.gid);
  }

  /** Makes the entries of all of them survive a power failure. */
  async sync(): Promise<void> {
    for (const path of this.#made.keys()) await syncFolder(path);
  }
}
