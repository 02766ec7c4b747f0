import { type Block, blockOf } from './block.js';

/** Reads two neighbouring blocks in one statement. */
export type LoadBlocks = (index: number) => Promise<readonly [Block, Block]>;

/** Of its bytes, from which on the memory counts as full: an eviction leaves room for a part of a block. */
const FULL = 0.9;

/**
 * Blocks of the catalog, the least recently used of which go when they outgrow their bytes.
 *
 * What was read before a change is never kept after it: a change drops the blocks that it touches, and forgets
 * the reads that are under way, so that what they bring is given to those who asked before the change and to nobody
 * else.
 */
export class BlockCache {
  /** In the order of use, the latest last. */
  readonly #blocks = new Map<number, Block>();
  readonly #loads = new Map<number, Promise<readonly [Block, Block]>>();
  /** Blocks that were missed once while the memory was full, the latest last. */
  readonly #missedOnce = new Set<number>();
  #bytes = 0;
  /** Counts the changes: a read that began before one is not kept. */
  #epoch = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly load: LoadBlocks,
  ) {}

  /** Memory that the blocks take up. */
  get bytes(): number {
    return this.#bytes;
  }

  get(index: number): Block | undefined {
    const block = this.#blocks.get(index);
    if (block === undefined) return undefined;
    this.#blocks.delete(index);
    this.#blocks.set(index, block);
    return block;
  }

  /**
   * Whether a block that is not there is worth a `fetch`, which reads more than a page. While there is room each one is.
   * Of a full memory it has to be missed again before as many others are as there are blocks: what somebody asks for
   * once must not cost what many ask for its place.
   */
  admits(index: number): boolean {
    if (this.#bytes < this.maxBytes * FULL || this.#loads.has(index)) return true;
    if (this.#missedOnce.delete(index)) return true;
    this.#missedOnce.add(index);
    if (this.#missedOnce.size > this.#blocks.size) {
      const [oldest] = this.#missedOnce;
      if (oldest !== undefined) this.#missedOnce.delete(oldest);
    }
    return false;
  }

  /** Reads a block and its neighbour, or waits for somebody who does so already. */
  fetch(index: number): Promise<readonly [Block, Block]> {
    const running = this.#loads.get(index);
    if (running !== undefined) return running;
    const load = this.#fetch(index, this.#epoch);
    this.#loads.set(index, load);
    return load;
  }

  /** Forgets what a change of products may have made untrue. */
  drop(ids: readonly number[]): void {
    this.#forgetLoads();
    const changed = new Set(ids.map(blockOf));
    for (const index of changed) this.#remove(index);
    const last = Math.max(...changed);
    for (const block of this.#blocks.values()) {
      // One that leads past a block, to a later one or to the end, found it empty; it may not be so any more.
      if (block.index < last && this.#leadsPast(block, changed)) this.#remove(block.index);
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#forgetLoads();
    this.#blocks.clear();
    this.#missedOnce.clear();
    this.#bytes = 0;
  }

  async #fetch(index: number, epoch: number): Promise<readonly [Block, Block]> {
    try {
      const blocks = await this.load(index);
      if (epoch === this.#epoch) for (const block of blocks) this.#keep(block);
      return blocks;
    } finally {
      // After a change the entry belongs to a later read.
      if (epoch === this.#epoch) this.#loads.delete(index);
    }
  }

  #keep(block: Block): void {
    this.#remove(block.index);
    if (block.cost > this.maxBytes) return;
    this.#blocks.set(block.index, block);
    this.#bytes += block.cost;
    for (const oldest of this.#blocks.keys()) {
      if (this.#bytes <= this.maxBytes) return;
      this.#remove(oldest);
    }
  }

  #remove(index: number): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    this.#blocks.delete(index);
    this.#bytes -= block.cost;
  }

  #forgetLoads(): void {
    this.#epoch += 1;
    this.#loads.clear();
  }

  #leadsPast(block: Block, changed: ReadonlySet<number>): boolean {
    for (const index of changed) {
      if (index > block.index && (block.next === null || block.next > index)) return true;
    }
    return false;
  }
}
