import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Gate } from '../common/gate.js';
import type { Content, ImageFile, ImageHost } from './image-host.js';

export interface LocalImageHostOptions {
  /** Folder of the images; made on the first upload. */
  readonly directory: string;
  /** Address of this service as browsers see it, for example `http://localhost:3000`. */
  readonly publicUrl: string;
}

/** A stored image, as `GET /api/images/{name}` needs it. */
export interface LocalImage {
  readonly path: string;
  readonly contentType: 'image/png' | 'image/jpeg';
}

/** Files written at the same time; each takes a piece of memory. */
const SIMULTANEOUS_WRITES = 8;
const FORMATS = ['png', 'jpg'] as const;
const CONTENT_TYPES = { png: 'image/png', jpg: 'image/jpeg' } as const;
const ID = /^[0-9a-f-]{36}$/;
const NAME = /^([0-9a-f-]{36})\.(png|jpg)$/;

/**
 * Images as files of this machine: `<directory>/<first two characters of the id>/<id>.<png|jpg>`. An answered
 * call survives a power cut. Its time is the file system's: no call leaves the machine.
 *
 * An upload is written to `<id>.tmp` and renamed. The name is fixed so that `remove` finds what a crash left:
 * every id has its row in the image ledger before its upload, thus no sweep of temporary files is needed.
 */
export class LocalImageHost implements ImageHost {
  private readonly directory: string;
  private readonly publicUrl: string;
  private readonly writes = new Gate(SIMULTANEOUS_WRITES);
  /** Folders that are there and would be after a power cut; 256 at most. */
  private readonly durableFolders = new Set<string>();

  constructor({ directory, publicUrl }: LocalImageHostOptions) {
    this.directory = resolve(directory);
    this.publicUrl = publicUrl.replace(/\/+$/, '');
  }

  /** @throws Error of the file system, or TypeError if `publicId` is not 36 characters of `[0-9a-f-]` */
  async upload(publicId: string, image: ImageFile): Promise<string> {
    const folder = this.folderOf(publicId);
    const name = `${publicId}.${image.format}`;
    const temporary = join(folder, temporaryName(publicId));
    try {
      await this.write(folder, temporary, image.content);
      await rename(temporary, join(folder, name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(folder);
    return `${this.publicUrl}/api/images/${name}`;
  }

  /** @throws Error of the file system, or TypeError if `publicId` is not 36 characters of `[0-9a-f-]` */
  async remove(publicId: string): Promise<void> {
    const folder = this.folderOf(publicId);
    // The temporary file first: an upload still on its way then fails at its rename and leaves nothing.
    for (const name of [temporaryName(publicId), ...FORMATS.map((format) => `${publicId}.${format}`)]) {
      await rm(join(folder, name), { force: true });
    }
    await syncFolder(folder).catch((error: unknown) => {
      if (!isNotFound(error)) throw error; // No folder: nothing was ever stored beside this id.
    });
  }

  /**
   * Finds a requested file.
   * @param name as it stands in the URL, `<id>.png` or `<id>.jpg`; anything else is no image of this service
   * @returns null if there is no such image
   */
  async open(name: string): Promise<LocalImage | null> {
    const [, publicId, format] = NAME.exec(name) ?? [];
    if (publicId === undefined || (format !== 'png' && format !== 'jpg')) return null;
    const path = join(this.folderOf(publicId), name);
    try {
      if (!(await lstat(path)).isFile()) return null;
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
    return { path, contentType: CONTENT_TYPES[format] };
  }

  /** Writes a file into a folder that is made if it is not there, be it that somebody removed it. */
  private async write(folder: string, path: string, content: Content): Promise<void> {
    const write = (): Promise<void> => this.writes.run(() => writeDurably(path, content));
    if (this.durableFolders.has(folder)) {
      try {
        await write();
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        this.durableFolders.delete(folder);
      }
    }
    await this.make(folder);
    await write();
  }

  private async make(folder: string): Promise<void> {
    const made = await mkdir(folder, { recursive: true });
    // Always, for another upload may have made the folder and not have synced it yet.
    await syncFolder(this.directory);
    if (made !== undefined) await this.syncParents(dirname(made));
    this.durableFolders.add(folder);
  }

  /** Makes durable the folders that an upload made above `directory`, up to the one that was there before. */
  private async syncParents(existing: string): Promise<void> {
    for (let path = this.directory; path.startsWith(existing) && path !== existing;) {
      path = dirname(path);
      await syncFolder(path);
    }
  }

  private folderOf(publicId: string): string {
    if (!ID.test(publicId)) throw new TypeError('a public id is 36 characters of [0-9a-f-]');
    return join(this.directory, publicId.slice(0, 2));
  }
}

function temporaryName(publicId: string): string {
  return `${publicId}.tmp`;
}

async function writeDurably(path: string, content: Content): Promise<void> {
  const file = await open(path, 'wx');
  try {
    // A handle goes on where its last write ended.
    for await (const piece of content.chunks({ reuse: true })) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
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

function isNotFound(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
