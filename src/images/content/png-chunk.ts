import { crc32 } from 'node:zlib';
import type { ByteReader } from './byte-reader.js';
import { demand } from './not-a-picture.js';

/** One chunk of a PNG (PNG, third edition, 5.3), read in pieces; `end` checks its sum. */
export class PngChunk {
  readonly type: string;
  readonly length: number;
  readonly #reader: ByteReader;
  #left: number;
  #crc: number;

  /** @throws NotAPicture when there is none */
  static async next(reader: ByteReader): Promise<PngChunk> {
    return new PngChunk(reader, await reader.exactly(8));
  }

  private constructor(reader: ByteReader, head: Buffer) {
    this.#reader = reader;
    this.length = head.readUInt32BE(0);
    this.type = head.toString('latin1', 4);
    this.#left = this.length;
    this.#crc = crc32(head.subarray(4));
    demand(this.length < 2 ** 31 && /^[A-Za-z]{4}$/.test(this.type), 'a chunk without a name');
  }

  /** Ancillary chunks may be unknown to a reader, others may not (5.4). */
  get isCritical(): boolean {
    return this.type.charCodeAt(0) < 0x61;
  }

  /** What is at hand, null at the end of the chunk. */
  async some(): Promise<Buffer | null> {
    if (this.#left === 0) return null;
    const piece = await this.#reader.some(this.#left);
    demand(piece !== null, 'ends within a chunk');
    return this.#taken(piece);
  }

  /** @throws NotAPicture when the chunk has fewer left */
  async exactly(count: number): Promise<Buffer> {
    demand(count <= this.#left, 'a chunk that is too short');
    return this.#taken(await this.#reader.exactly(count));
  }

  /** @throws NotAPicture when no NUL comes within that many bytes */
  async skipText(maxLength: number): Promise<void> {
    for (let length = 0; (await this.exactly(1))[0] !== 0; length += 1)
      demand(length < maxLength, 'a long text');
  }

  /** Reads what is left and the sum. */
  async end(): Promise<void> {
    while ((await this.some()) !== null);
    demand((await this.#reader.exactly(4)).readUInt32BE(0) === this.#crc, 'a chunk with a wrong sum');
  }

  #taken(piece: Buffer): Buffer {
    this.#crc = crc32(piece, this.#crc);
    this.#left -= piece.length;
    return piece;
  }
}
