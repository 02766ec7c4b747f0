import { Injectable } from '@nestjs/common';
import { catalogCacheBytes, catalogCachePages } from '../../common/metrics.js';
import { Env } from '../../config/env.js';
import { ProductsRepository } from '../products.repository.js';
import { type Block, blockOf, type BlockSlice } from './block.js';
import { BlockCache } from './block-cache.js';
import { type ListPage, PAGE_SIZE } from './list-page.js';
import { ProductChanges } from './product-changes.js';
import { ProductWrites } from './product-writes.js';

/** Most blocks for one page. Where ids have so many gaps that it takes more, the database reads less. */
const MOST_BLOCKS = 6;

/** What blocks say of a page: the page, null at the end of the catalog, or the block that is needed to tell. */
type Assembled = ListPage | null | { readonly missing: number };

/** The list of products, from memory where that is known to be true, else from the database. */
@Injectable()
export class ProductListService {
  readonly #cache: BlockCache;
  readonly #isOn: boolean;

  constructor(
    env: Env,
    private readonly products: ProductsRepository,
    private readonly changes: ProductChanges,
    writes: ProductWrites,
  ) {
    this.#isOn = env.catalogCacheBytes > 0;
    this.#cache = new BlockCache(env.catalogCacheBytes, (index) => this.products.blocks(index));
    this.changes.onChange((change) => {
      if (change === 'all') this.#cache.clear();
      else this.#cache.drop(change);
    });
    writes.onCommitted((ids) => {
      this.changes.noteChange();
      this.#cache.drop(ids);
    });
  }

  /** Memory that the serialised products take up; at most CATALOG_CACHE_MB. */
  get cachedBytes(): number {
    return this.#cache.bytes;
  }

  /** At most 50 products after an id, ordered by id; null at the end of the list. */
  async page(afterId: number): Promise<ListPage | null> {
    if (!this.#isOn || !this.changes.isCurrent) return this.#pageOfDatabase(afterId);
    const fetched = new Map<number, Block>();
    for (let fetches = 0; fetches < MOST_BLOCKS; fetches += 1) {
      const page = this.#assemble(afterId, fetched);
      if (page === null || !('missing' in page)) {
        if (page !== null && fetches === 0) catalogCachePages.inc({ result: 'hit' });
        else if (page !== null) catalogCachePages.inc({ result: 'miss' });
        return page;
      }
      if (page.missing === TOO_SCATTERED || !this.#cache.admits(page.missing)) break;
      for (const block of await this.#cache.fetch(page.missing)) fetched.set(block.index, block);
      catalogCacheBytes.set(this.#cache.bytes);
    }
    return this.#pageOfDatabase(afterId);
  }

  async #pageOfDatabase(afterId: number): Promise<ListPage | null> {
    const page = await this.products.page(afterId);
    if (page !== null) catalogCachePages.inc({ result: 'miss' });
    return page;
  }

  /** The same page if it can be had at once; null also when only the database knows. */
  pageAtOnce(afterId: number): ListPage | null {
    if (!this.#isOn || !this.changes.isCurrent) return null;
    const page = this.#assemble(afterId, NONE);
    if (page === null || 'missing' in page) return null;
    catalogCachePages.inc({ result: 'hit' });
    return page;
  }

  #assemble(afterId: number, fetched: ReadonlyMap<number, Block>): Assembled {
    const pieces: Buffer[] = [];
    let digest = 0n;
    let count = 0;
    let lastId = afterId;
    let index: number | null = blockOf(afterId + 1);
    for (let visited = 0; index !== null; visited += 1) {
      if (visited === MOST_BLOCKS) return { missing: TOO_SCATTERED };
      const block: Block | undefined = fetched.get(index) ?? this.#cache.get(index);
      if (block === undefined) return { missing: index };
      const slice: BlockSlice | null = block.after(afterId, PAGE_SIZE - count);
      if (slice !== null) {
        pieces.push(slice.bytes);
        digest += slice.digest;
        count += slice.count;
        lastId = slice.lastId;
      }
      if (count === PAGE_SIZE) break;
      index = block.next;
    }
    return count === 0 ? null : { pieces, lastId, digest: BigInt.asUintN(64, digest) };
  }
}

const TOO_SCATTERED = -1;
const NONE: ReadonlyMap<number, Block> = new Map();
