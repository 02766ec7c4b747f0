import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Content } from './image-host.js';

const PIECE_BYTES = 64 * 1024;

/** The disk did not take what was to be kept for the length of a request. */
export class SpoolError extends Error {
  override readonly name = 'SpoolError';
}

/**
 * A file without a name: it is unlinked as soon as it is open, so that the operating system takes it back when it is
 * closed or the process dies, however it dies. There is nothing to sweep.
 */
export class SpoolFile {
  readonly #handle: FileHandle;
  #size = 0;

  /**
   * @param directory made if it is not there
   * @throws SpoolError
   */
  static async open(directory: string): Promise<SpoolFile> {
    const path = join(directory, randomUUID());
    try {
      return new SpoolFile(await openNameless(path));
    } catch (error) {
      throw new SpoolError('no file could be opened for an upload', { cause: error });
    }
  }

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Bytes so far, which is where the next one will stand. */
  get size(): number {
    return this.#size;
  }

  /**
   * Not to be called again before it has ended.
   * @throws SpoolError when the disk is full or fails
   */
  async append(bytes: Buffer): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, this.#size);
        done += bytesWritten;
        this.#size += bytesWritten;
      }
    } catch (error) {
      throw new SpoolError('an upload could not be written', { cause: error });
    }
  }

  /** Part of it as content; readable until `close`. */
  slice(start: number, size: number): Content {
    return { size, chunks: ({ reuse = false } = {}) => this.#chunks(start, size, reuse) };
  }

  /** Frees its space. What is being read or written ends first. */
  close(): Promise<void> {
    return this.#handle.close();
  }

  async *#chunks(start: number, size: number, reuse: boolean): AsyncGenerator<Buffer, void, undefined> {
    let piece: Buffer | undefined;
    for (let done = 0; done < size;) {
      if (!reuse || piece === undefined) piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size));
      const length = Math.min(piece.length, size - done);
      const { bytesRead } = await this.#handle.read(piece, 0, length, start + done);
      if (bytesRead === 0) throw new SpoolError('an upload ends before its end');
      done += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  }
}

async function openNameless(path: string): Promise<FileHandle> {
  const handle = await openNew(path);
  try {
    await unlink(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Readable by this user alone. */
async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx+', 0o600);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
    return open(path, 'wx+', 0o600);
  }
}
