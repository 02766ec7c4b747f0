import { lstat, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorCode } from '../config/files.js';
import type { ImageFile, ImageHost } from './image-host.js';

const NAME = /^([0-9a-f-]{36})\.(?:png|jpg)$/;

/**
 * Images as files of this machine: `<directory>/<first two characters of the id>/<id>.<png|jpg>`. A call that was
 * answered survives a power cut. Its time is the file system's: no call leaves the machine.
 *
 * An upload is written under its final name: no client learns the name before the upload has ended, and a file that a
 * crash cut short is removed by its id, which has a row in the image ledger.
 */
export class LocalImageHost implements ImageHost {
  readonly #directory: string;

  /** @param directory folder of the images; made on the first upload */
  constructor(directory: string) {
    this.#directory = resolve(directory);
  }

  /**
   * @returns the file's name, `<id>.<png|jpg>`
   * @throws Error of the file system
   */
  async upload(publicId: string, { bytes, format }: ImageFile): Promise<string> {
    const folder = this.#folderOf(publicId);
    const name = `${publicId}.${format}`;
    const made = await mkdir(folder, { recursive: true });
    const file = await open(join(folder, name), 'wx');
    try {
      await file.writeFile(bytes);
      // Side by side, because each waits for the disk. The folders always: another upload may have made one of them
      // and not have synced its parent yet.
      const folders = foldersUpTo(made === undefined ? this.#directory : dirname(made), folder);
      await Promise.all([file.sync(), ...folders.map(syncFolder)]);
    } finally {
      await file.close();
    }
    return name;
  }

  /** @throws Error of the file system */
  async remove(publicId: string): Promise<void> {
    const folder = this.#folderOf(publicId);
    // Version 1.0 wrote to `<id>.tmp` first.
    for (const ending of ['tmp', 'png', 'jpg'])
      await rm(join(folder, `${publicId}.${ending}`), { force: true });
    // Without the folder there is no image to remove.
    await syncFolder(folder).catch(unlessNotFound);
  }

  /**
   * Finds a requested file.
   * @param name as it stands in the URL, `<id>.png` or `<id>.jpg`; anything else is no image of this service
   * @returns its path, or null if there is no such image
   */
  async find(name: string): Promise<string | null> {
    const [, publicId] = NAME.exec(name) ?? [];
    if (publicId === undefined) return null;
    const path = join(this.#folderOf(publicId), name);
    const found = await lstat(path).catch(unlessNotFound);
    return found?.isFile() === true ? path : null;
  }

  #folderOf(publicId: string): string {
    return join(this.#directory, publicId.slice(0, 2));
  }
}

/** A folder and its parents, up to a given one. */
function foldersUpTo(top: string, folder: string): string[] {
  return folder === top ? [folder] : [folder, ...foldersUpTo(top, dirname(folder))];
}

/** Makes names durable: syncing a file does not sync the folder that names it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function unlessNotFound(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error;
}
