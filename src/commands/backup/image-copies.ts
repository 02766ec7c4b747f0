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
  /** True if the process leaves the images when it exits: the database may refer to them. */
  areKept = false;

  constructor(private readonly folder: string) {
    process.once('exit', this.revert);
  }

  async add(source: string): Promise<void> {
    const name = basename(source);
    const target = join(this.folder, name.slice(0, 2), name);
    const draft = `${target}.restore`;
    await mkdir(dirname(target), { recursive: true });
    this.#addedFiles.push(draft);
    if (!existsSync(target)) this.#addedFiles.push(target);
    // Not `copyFile`, which would also copy the mode from the archive.
    await pipeline(createReadStream(source), createWriteStream(draft, { flush: true }));
    // An existing file of this name has the same content, because the name is the random id of the image.
    await rename(draft, target);
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

  keep(): void {
    this.areKept = true;
    process.off('exit', this.revert);
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
        // The folder has other files.
      }
  };
}
