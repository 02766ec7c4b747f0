import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { flushToDisk } from '../../common/files.js';

/** Images that a restore has copied into the folder of the local image host. */
export class ImageCopies {
  readonly #addedFiles: string[] = [];

  constructor(private readonly folder: string) {}

  async add(source: string): Promise<void> {
    const name = basename(source);
    const target = join(this.folder, name.slice(0, 2), name);
    const draft = `${target}.restore`;
    await mkdir(dirname(target), { recursive: true });
    this.#addedFiles.push(draft);
    if (!existsSync(target)) this.#addedFiles.push(target);
    await pipeline(createReadStream(source), createWriteStream(draft, { flush: true }));
    // An existing file of this name has the same content, because the name is the random id of the image.
    await rename(draft, target);
  }

  /** Flushes the directory entries of all added files and folders. */
  async flush(): Promise<void> {
    const folders = this.#addedFiles.flatMap((path) => [dirname(path), this.folder, dirname(this.folder)]);
    for (const folder of new Set(folders)) await flushToDisk(folder);
  }

  /** Removes the added files, but no earlier file. */
  async revert(): Promise<void> {
    for (const path of this.#addedFiles)
      await rm(path, { force: true }).catch(() => {
        console.error(`the added image ${path} could not be removed`);
      });
  }
}
