import { createReadStream, createWriteStream, existsSync, rmdirSync, rmSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { flushToDisk } from '../../common/files.js';

/**
 * Images that a restore has copied into the folder of the local image host. The process removes the images when it exits, unless
 * `keep` was called before.
 */
export class ImageCopies {
  readonly #addedFiles: string[] = [];
  #areKept = false;

  constructor(private readonly folder: string) {
    process.once('exit', this.revert);
  }

  async add(source: string): Promise<void> {
    const name = basename(source);
    const target = join(this.folder, name.slice(0, 2), name);
    const temporary = `${target}.restore`;
    await mkdir(dirname(target), { recursive: true });
    this.#addedFiles.push(temporary);
    if (!existsSync(target)) this.#addedFiles.push(target);
    // Not `copyFile`, which would also copy the mode from the archive.
    await pipeline(createReadStream(source), createWriteStream(temporary, { flush: true }));
    // The name is the random id of the image, so a file of this name is the same image. A crash may have left only half of it.
    await rename(temporary, target);
  }

  /** Flushes the directory entries of all added files and folders. */
  async flush(): Promise<void> {
    for (const folder of [...this.#folders, dirname(this.folder)])
      if (existsSync(folder)) await flushToDisk(folder);
  }

  /** Folders of the added files, then `this.folder`. */
  get #folders(): string[] {
    return [...new Set(this.#addedFiles.map((path) => dirname(path))), this.folder];
  }

  /** Leaves the images when the process exits: the database may refer to them. */
  keep(): void {
    this.#areKept = true;
    process.off('exit', this.revert);
  }

  get areKept(): boolean {
    return this.#areKept;
  }

  /** Removes the added files, but no earlier file, and then the folders that are empty. */
  readonly revert = (): void => {
    process.off('exit', this.revert);
    let failures = 0;
    for (const path of this.#addedFiles)
      try {
        rmSync(path, { force: true });
      } catch {
        failures += 1;
      }
    if (failures > 0) console.error(`${failures} added images in ${this.folder} could not be removed`);
    for (const folder of this.#folders)
      try {
        rmdirSync(folder);
      } catch {
        // The folder has other files, or does not exist.
      }
  };
}
