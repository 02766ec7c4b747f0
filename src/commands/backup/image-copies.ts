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
  readonly #foldersToRemove: string[] = [];
  /** True after `keep`. */
  areKept = false;

  constructor(private readonly folder: string) {
    process.once('exit', this.revert);
  }

  async add(source: string): Promise<void> {
    const name = basename(source);
    const target = join(this.folder, name.slice(0, 2), name);
    const draft = `${target}.restore`;
    const created = await mkdir(dirname(target), { recursive: true });
    // `this.folder` may have existed before. `revert` deletes only empty folders.
    if (created !== undefined) this.#foldersToRemove.push(dirname(target), this.folder);
    this.#addedFiles.push(draft);
    if (!existsSync(target)) this.#addedFiles.push(target);
    await pipeline(createReadStream(source), createWriteStream(draft, { flush: true }));
    // An existing file of this name has the same content, because the name is the random id of the image.
    await rename(draft, target);
  }

  /** Flushes the directory entries of all added files and folders. */
  async flush(): Promise<void> {
    const folders = new Set([
      ...this.#addedFiles.map((path) => dirname(path)),
      this.folder,
      dirname(this.folder),
    ]);
    for (const folder of folders) if (existsSync(folder)) await flushToDisk(folder);
  }

  keep(): void {
    this.areKept = true;
    process.off('exit', this.revert);
  }

  /** Removes the added files, but no earlier file. Then removes the added folders and `this.folder` if they are empty. */
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
    for (const folder of this.#foldersToRemove)
      try {
        rmdirSync(folder);
      } catch {
        // The folder has other files.
      }
  };
}
