import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../common/errors/error-info.js';
import { FairQueue } from '../common/fair-queue.js';
import { flushToDisk } from '../common/files.js';
import type { ImageFile, ImageHost } from './image-host.js';
import { shrinkImage } from './resize.js';

const NAME = /^[0-9a-f-]{36}\.(?:png|jpg)$/;

/** Returns the path of an image below the root. The name is the image's id with the extension of its format. */
export function toLocalPath(name: string): string {
  return join(name.slice(0, 2), name);
}

/**
 * Stores images as files (see `toLocalPath`), with smaller versions beside them as `<id>-<width>.<png|jpg>`. A confirmed upload
 * survives a power cut. After a crash, the sweep of abandoned images removes an incomplete file.
 */
export class LocalImageHost implements ImageHost {
  /**
   * Creates one smaller version at a time. Requests for the same version count as one client, so that they delay no other version. A
   * disconnect does not stop a creation, because other requests may wait for it.
   */
  readonly #creationQueue = new FairQueue({ capacity: 1, maxWaiting: 1_000 });

  constructor(private readonly root: string) {}

  async upload(imageId: string, { bytes, format }: ImageFile): Promise<string> {
    const name = `${imageId}.${format}`;
    const path = join(this.root, toLocalPath(name));
    const folder = dirname(path);
    await mkdir(folder, { recursive: true });
    // Without a temporary name, because nobody knows the URL of an incomplete image.
    await writeFile(path, bytes, { flag: 'wx', flush: true });
    // Flush the folders even if they existed: another upload may have created them and not have flushed the parent yet.
    await Promise.all([folder, this.root, dirname(this.root)].map(flushToDisk));
    return name;
  }

  async remove(imageId: string): Promise<void> {
    const folder = dirname(join(this.root, toLocalPath(imageId)));
    // Delete the image before listing its versions: `find` looks for the image after it has stored a version.
    for (const format of ['png', 'jpg']) await rm(join(folder, `${imageId}.${format}`), { force: true });
    const names = await readdir(folder).catch(ignoreNotFound);
    if (names === undefined) return; // No image was ever stored in this folder.
    for (const name of names) if (name.startsWith(imageId)) await rm(join(folder, name), { force: true });
    await flushToDisk(folder);
  }

  /**
   * Returns the path of an image; null if there is no such image.
   * @param width returns the path of a version with at most this width, which the first request creates
   */
  async find(name: string, width?: number): Promise<string | null> {
    if (!NAME.test(name)) return null;
    const path = join(this.root, toLocalPath(name));
    if (!(await isFile(path))) return null;
    if (width === undefined) return path;
    const smaller = path.replace(/\.\w+$/, `-${width}$&`);
    if (await isFile(smaller)) return smaller;
    await this.#creationQueue.run(() => createSmaller(path, width, smaller), { client: smaller });
    // The image may have been removed in the meantime.
    if (await isFile(path)) return smaller;
    await rm(smaller, { force: true });
    return null;
  }
}

async function createSmaller(path: string, width: number, smaller: string): Promise<void> {
  // An earlier request in the queue may have created the version.
  if (await isFile(smaller)) return;
  const format = path.endsWith('.png') ? 'png' : 'jpg';
  const bytes = await shrinkImage(path, format, width);
  // Rename a complete file, because another request must not read half a file.
  const temporary = `${smaller}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, bytes, { flush: true });
    await rename(temporary, smaller);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns false for a symbolic link, which could lead out of the folder. */
async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(ignoreNotFound);
  return found?.isFile() === true;
}

function ignoreNotFound(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
