import { createInflate, type Inflate } from 'node:zlib';
import { demand, NotAPicture } from './not-a-picture.js';

/** Inflates a zlib stream (RFC 1950) in constant memory, throws its output away and counts it. */
export class BoundedInflate {
  readonly #inflate: Inflate;
  readonly #limit: number;
  readonly #ended: Promise<void>;
  #size = 0;

  /** @param limit most bytes of output; one more is refused, and no more than a few KiB further are made */
  constructor(limit: number) {
    this.#limit = limit;
    this.#inflate = createInflate();
    this.#inflate.on('data', (output: Buffer) => {
      this.#size += output.length;
      if (this.#size > limit) this.#inflate.destroy(new NotAPicture('inflates to more than it says'));
    });
    this.#ended = new Promise((resolve, reject) => {
      this.#inflate.once('end', resolve);
      this.#inflate.once('error', (error) => {
        reject(error instanceof NotAPicture ? error : new NotAPicture('is no zlib stream', { cause: error }));
      });
    });
    // Looked at by whoever writes or ends; until then it is not unhandled.
    this.#ended.catch(() => undefined);
  }

  /**
   * Resolves when the input is used up and may be overwritten.
   * @throws NotAPicture when the stream is broken or makes too much
   */
  async write(input: Buffer): Promise<void> {
    if (this.#inflate.readableEnded) return; // Decoders ignore what follows the stream.
    const written = new Promise<void>((resolve) => {
      this.#inflate.write(input, () => {
        resolve();
      });
    });
    await Promise.race([written, this.#ended]);
    if (this.#size > this.#limit) await this.#ended;
  }

  /**
   * @returns how many bytes came out
   * @throws NotAPicture when the stream is cut short
   */
  async end(): Promise<number> {
    this.#inflate.end();
    await this.#ended;
    demand(this.#size <= this.#limit, 'inflates to more than it says');
    return this.#size;
  }

  /** Frees its memory at once; harmless after the end. */
  destroy(): void {
    this.#inflate.destroy();
  }
}
