import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { catalogCacheBytes, catalogCachePages } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { ImagesService } from '../images/images.service.js';
import { ProductsRepository } from './products.repository.js';

/** Page of the product list as it is sent. */
interface ProductPage {
  /** JSON of the response; empty past the last product. */
  readonly body: Buffer;
  readonly etag: string;
}

/** Changes of other processes are visible after at most this time. */
const LIFETIME_MS = 1000;
/** Memory of a cached page besides its body. */
const OVERHEAD_BYTES = 512;
const MEBIBYTE = 1024 * 1024;

/** Reads and caches pages of the product list. Requests that wait for the same page share one load. */
@Injectable()
export class ProductPages {
  /** Null with CATALOG_CACHE_MB=0: each request then loads its page. */
  readonly #cache: LRUCache<number, ProductPage> | null;

  constructor(
    { catalogCacheMb }: Env,
    private readonly products: ProductsRepository,
    private readonly images: ImagesService,
  ) {
    const options = {
      maxSize: catalogCacheMb * MEBIBYTE,
      sizeCalculation: ({ body }: ProductPage) => body.length + OVERHEAD_BYTES,
      ttl: LIFETIME_MS,
      fetchMethod: (afterId: number) => this.#load(afterId),
      // If the cache is cleared during a load, waiting requests get the result, but it is not cached.
      ignoreFetchAbort: true,
    };
    this.#cache = catalogCacheMb === 0 ? null : new LRUCache(options);
  }

  /** Returns the page after an id; null past the last product. Pages of a search are not cached. */
  async find(afterId: number, search?: string): Promise<ProductPage | null> {
    if (search !== undefined) return unlessEmpty(await this.#load(afterId, search));
    const cached = this.#cache?.get(afterId);
    const page = cached ?? (await (this.#cache?.forceFetch(afterId) ?? this.#load(afterId)));
    if (cached === undefined) catalogCacheBytes.set(this.#cache?.calculatedSize ?? 0);
    if (page.body.length > 0) catalogCachePages.inc({ result: cached === undefined ? 'miss' : 'hit' });
    return unlessEmpty(page);
  }

  /**
   * Waits for a change of products, then clears the cache, including pages that are being loaded. Also clears it after an
   * error: the commit may have succeeded although its response was lost.
   */
  async clearAfter<T>(change: Promise<T>): Promise<T> {
    return change.finally(() => this.#cache?.clear());
  }

  async #load(afterId: number, search?: string): Promise<ProductPage> {
    const text = await this.products.findPageJson(afterId, this.images.localPrefix, search);
    const body = Buffer.from(text ?? '');
    return { body, etag: `W/"${createHash('sha1').update(body).digest('base64url')}"` };
  }
}

function unlessEmpty(page: ProductPage): ProductPage | null {
  return page.body.length === 0 ? null : page;
}

/** Sends a page. Express sends 304 instead if the client already has the page with this ETag. */
export function sendPage(response: Response, { body, etag }: ProductPage): void {
  response.setHeader('ETag', etag).setHeader('Content-Type', 'application/json; charset=utf-8').send(body);
}
