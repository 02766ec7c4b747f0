/** Ids of one block: products from `index * 64` to `index * 64 + 63`. */
export const BLOCK_IDS = 64;
const DIGEST_BITS = 64;
/** What a block costs besides its arrays: three views with their buffers, its object and its place in the map. */
const OVERHEAD_BYTES = 1024;

/** A product as the list shows it. */
export interface Fragment {
  readonly id: number;
  /** JSON text of a `ListedProductView`. */
  readonly json: string;
  /** A decimal of 64 bits that changes with the text. */
  readonly digest: string;
}

/** Consecutive products of a block, as they stand in a page. */
export interface BlockSlice {
  /** JSON objects with commas between them. */
  readonly bytes: Buffer;
  readonly count: number;
  readonly lastId: number;
  /** Sum of the digests modulo 2^64. */
  readonly digest: bigint;
}

/** The block in which an id lies. */
export function blockOf(id: number): number {
  return Math.floor(id / BLOCK_IDS);
}

/** The products of one range of ids, serialised once, so that any run of them is a piece of one buffer. */
export class Block {
  readonly #ids: Int32Array;
  /** Where each product's text begins; the last entry is one past the end, as if a comma followed. */
  readonly #offsets: Uint32Array;
  /** Sum of the digests before each product, modulo 2^64: the digest of a run is one subtraction. */
  readonly #digests: BigUint64Array;
  readonly #bytes: Buffer;

  /**
   * @param fragments the block's products, ordered by id
   * @param next the next block that holds any product; null at the end of the catalog
   */
  constructor(
    readonly index: number,
    fragments: readonly Fragment[],
    readonly next: number | null,
  ) {
    const count = fragments.length;
    this.#ids = Int32Array.from(fragments, ({ id }) => id);
    this.#offsets = new Uint32Array(count + 1);
    this.#digests = new BigUint64Array(count + 1);
    let offset = 0;
    let digest = 0n;
    fragments.forEach((fragment, position) => {
      offset += Buffer.byteLength(fragment.json) + 1;
      digest += BigInt(fragment.digest);
      this.#offsets[position + 1] = offset;
      this.#digests[position + 1] = digest;
    });
    // Not from Node's pool, of which a small piece would keep all alive.
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(offset - 1, 0));
    this.#bytes.write(fragments.map(({ json }) => json).join(','));
  }

  /** Memory that it takes up. */
  get cost(): number {
    return (
      this.#bytes.length +
      this.#ids.byteLength +
      this.#offsets.byteLength +
      this.#digests.byteLength +
      OVERHEAD_BYTES
    );
  }

  /** Its products after an id, at most `limit` of them; null without any. */
  after(id: number, limit: number): BlockSlice | null {
    const from = this.#firstAfter(id);
    const to = Math.min(from + limit, this.#ids.length);
    if (from >= to) return null;
    return {
      bytes: this.#bytes.subarray(this.#offsets[from], (this.#offsets[to] ?? 0) - 1),
      count: to - from,
      lastId: this.#ids[to - 1] ?? 0,
      digest: BigInt.asUintN(DIGEST_BITS, (this.#digests[to] ?? 0n) - (this.#digests[from] ?? 0n)),
    };
  }

  #firstAfter(id: number): number {
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
