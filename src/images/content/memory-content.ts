import type { Content } from '../image-host.js';

/** Content that is in memory. */
export class MemoryContent implements Content {
  readonly size: number;

  constructor(private readonly bytes: Buffer) {
    this.size = bytes.length;
  }

  async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    await Promise.resolve();
    yield this.bytes;
  }
}
