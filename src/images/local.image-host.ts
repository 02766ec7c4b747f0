import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../config/error-info.js';
import { flushToDisk } from '../config/files.js';
import type { ImageFile } from './image-host.js';

const NAME = /^([0-9a-f-]{36})\.(?:png|jpg)$/;

/**
 * Stores images as files: `<directory>/<first two characters of the id>/<id>.<png|jpg>`. A confirmed upload survives a
 * power cut. No temporary name is needed: after a crash, the sweep of abandoned images removes an incomplete file.
 */
export class LocalImageHost {
  /** @param directory absolute path of the folder, which the first upload creates */
  constructor(private readonly directory: string) {}

  /** @returns the name of the file @throws Error of the file system */
  async upload(publicId: string, { bytes, format }: ImageFile): Promise<string> {
    const folder = this.#folderOf(publicId);
    const name = `${publicId}.${format}`;
    const made = await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), bytes, { flag: 'wx', flush: true });
    // Flush the folders even if they existed: another upload may have created them and not have flushed the parent yet.
    const folders = listFoldersUpTo(made === undefined ? this.directory : dirname(made), folder);
    await Promise.all(folders.map(flushToDisk));
    return name;
  }

  /** Removes an image, if it exists. @throws Error of the file system */
  async remove(publicId: string): Promise<void> {
    const folder = this.#folderOf(publicId);
    // Version 1.0 wrote `<id>.tmp` first.
    for (const ending of ['tmp', 'png', 'jpg'])
      await rm(join(folder, `${publicId}.${ending}`), { force: true });
    // Without the folder there is no image to remove.
    await flushToDisk(folder).catch(ignoreNotFound);
  }

  /** Returns the path of an image file; null if there is no such image. */
  async find(name: string): Promise<string | null> {
    const [, publicId] = NAME.exec(name) ?? [];
    if (publicId === undefined) return null;
    const path = join(this.#folderOf(publicId), name);
    const found = await lstat(path).catch(ignoreNotFound);
    return found?.isFile() === true ? path : null;
  }

  #folderOf(publicId: string): string {
    return join(this.directory, publicId.slice(0, 2));
  }
}

/** Lists `folder` and its parents up to `top`, both included. */
function listFoldersUpTo(top: string, folder: string): string[] {
  return folder === top ? [folder] : [folder, ...listFoldersUpTo(top, dirname(folder))];
}

function ignoreNotFound(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error;
}
