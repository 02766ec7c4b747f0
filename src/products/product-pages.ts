import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Gauge } from 'prom-client';
import { failures } from '../common/errors/failures.js';
import { FairQueue } from '../common/fair-queue.js';
import { type Client, toTurn } from '../common/http/client.decorator.js';
import { createCounter } from '../common/observability/metrics.js';
import { Env } from '../config/env.js';
import type { AdminProductsQuery } from './admin-products.dto.js';
import { ProductsRepository } from './products.repository.js';

/** Changes of other processes are visible after at most this time. */
const LIFETIME_MS = 1000;
/** Memory of a cached page besides its text. */
const OVERHEAD_BYTES = 512;
const MIB = 1024 * 1024;

const catalogCachePages = createCounter(
  'bakery_catalog_cache_pages_total',
  'Cache lookups for pages of the product list',
  'result',
  ['hit', 'miss'],
);

const catalogCacheBytes = new Gauge({
  name: 'bakery_catalog_cache_bytes',
  help: 'Memory of the cached product list',
});

/** Reads pages of products as JSON text, and caches those for customers. Requests that wait for the same page share one load. */
@Injectable()
export class ProductPages {
  /** Null with CATALOG_CACHE_MB=0: each request then loads its page. */
  readonly #cache: LRUCache<number, string> | null;

  /** Limits parallel searches, which can read all names, so that connections to PostgreSQL stay free for other requests. */
  readonly #searches = new FairQueue({ capacity: 2, maxWaiting: 200 });

  constructor(
    { catalogCacheMb }: Env,
    private readonly products: ProductsRepository,
  ) {
    const options = {
      maxSize: catalogCacheMb * MIB,
      // V8 stores a text with characters beyond Latin-1 in two bytes each.
      sizeCalculation: (page: string) => 2 * page.length + OVERHEAD_BYTES,
      ttl: LIFETIME_MS,
      fetchMethod: (afterId: number) => products.findPageJson(afterId),
      // If the cache is cleared during a load, waiting requests get the result, but it is not cached.
      ignoreFetchAbort: true,
    };
    this.#cache = catalogCacheMb === 0 ? null : new LRUCache(options);
  }

  /**
   * Clients that search are served in turn.
   * @throws Failure 404 for an empty page
   */
  async search(afterId: number, text: string, client: Client): Promise<string> {
    const load = async () => {
      const found = await this.products.findPageJson(afterId, text);
      // Similar names have only one page.
      return found === '' && afterId <= 0 ? this.products.findSimilarJson(text) : found;
    };
    return orNotFound(await this.#searches.run(load, toTurn(client)));
  }

  /** @throws Failure 404 for an empty page */
  async get(afterId: number): Promise<string> {
    if (this.#cache === null) return orNotFound(await this.products.findPageJson(afterId));
    const status: LRUCache.Status<number, string> = {};
    const page = await this.#cache.forceFetch(afterId, { status });
    // A request that shares the load of another one is a hit, too.
    const result = status.fetch === 'miss' ? 'miss' : 'hit';
    if (result === 'miss') catalogCacheBytes.set(this.#cache.calculatedSize);
    catalogCachePages.inc({ result });
    return orNotFound(page);
  }

  /** @throws Failure 404 for an empty page */
  async getForAdmin(query: AdminProductsQuery): Promise<string> {
    return orNotFound(await this.products.findAdminPageJson(query));
  }

  /** Clears the cache, including pages that are being loaded. */
  clear(): void {
    this.#cache?.clear();
    catalogCacheBytes.set(0);
  }
}

function orNotFound(page: string): string {
  if (page === '') throw failures.notFound();
  return page;
}
