import { demand } from './not-a-picture.js';

const NOTHING = Buffer.alloc(0);

/**
 * Reads bytes in order, from chunks that are asked for one by one and may share one piece of memory: what a method
 * returns is valid until the next call.
 */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #onChunk: (chunk: Buffer) => void;
  #chunk: Buffer = NOTHING;
  #at = 0;

  /** @param onChunk sees every chunk once, when it is loaded */
  constructor(chunks: AsyncIterable<Buffer>, onChunk: (chunk: Buffer) => void) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#onChunk = onChunk;
  }

  /** What is at hand, at least one byte and at most `max`; null at the end. */
  async some(max = Infinity): Promise<Buffer | null> {
    if (this.#at === this.#chunk.length && !(await this.#load())) return null;
    const end = Math.min(this.#chunk.length, this.#at + max);
    const piece = this.#chunk.subarray(this.#at, end);
    this.#at = end;
    return piece;
  }

  /**
   * @param count small: the bytes are collected
   * @throws NotAPicture when fewer are left
   */
  async exactly(count: number): Promise<Buffer> {
    if (this.#chunk.length - this.#at >= count) {
      this.#at += count;
      return this.#chunk.subarray(this.#at - count, this.#at);
    }
    const bytes = await this.upTo(count);
    demand(bytes.length === count, 'ends too early');
    return bytes;
  }

  /** The next bytes, fewer only at the end. */
  async upTo(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let missing = count; missing > 0;) {
      const piece = await this.some(missing);
      if (piece === null) break;
      pieces.push(Buffer.from(piece));
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** @throws NotAPicture when fewer are left */
  async skip(count: number): Promise<void> {
    for (let missing = count; missing > 0;) {
      const piece = await this.some(missing);
      demand(piece !== null, 'ends too early');
      missing -= piece.length;
    }
  }

  /**
   * Goes just past the next byte of this value.
   * @returns how many bytes were before it
   * @throws NotAPicture when there is none
   */
  async skipPast(value: number): Promise<number> {
    for (let passed = 0; ;) {
      if (this.#at === this.#chunk.length) demand(await this.#load(), 'ends too early');
      const found = this.#chunk.indexOf(value, this.#at);
      const end = found === -1 ? this.#chunk.length : found;
      passed += end - this.#at;
      this.#at = found === -1 ? end : end + 1;
      if (found !== -1) return passed;
    }
  }

  /** Goes to the end. */
  async drain(): Promise<void> {
    while ((await this.some()) !== null);
  }

  /** Lets go of the chunks, also before their end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #load(): Promise<boolean> {
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      if (next.value.length === 0) continue;
      this.#onChunk(next.value);
      this.#chunk = next.value;
      this.#at = 0;
      return true;
    }
  }
}
