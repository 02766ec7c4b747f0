import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { catalogCacheBytes, catalogCachePages } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { ImagesService } from '../images/images.service.js';
import { ProductsRepository } from './products.repository.js';

/** Page of the product list as it is sent. */
export interface ProductPage {
  /** JSON of the response; empty past the last product. */
  readonly body: Buffer;
  readonly etag: string;
}

/** Changes of other processes are visible after at most this time. */
const LIFETIME_MS = 1000;
/** Memory of a cached page besides its body. */
const OVERHEAD_BYTES = 512;

/**
 * Cached pages of the product list: for one second, in at most CATALOG_CACHE_MB of memory. A page is loaded once for all
 * waiting requests.
 */
@Injectable()
export class ProductPages {
  /** Null with CATALOG_CACHE_MB=0. */
  readonly #cache: LRUCache<number, ProductPage> | null;

  constructor(
    { catalogCacheBytes }: Env,
    private readonly products: ProductsRepository,
    private readonly images: ImagesService,
  ) {
    this.#cache =
      catalogCacheBytes === 0
        ? null
        : new LRUCache({
            maxSize: catalogCacheBytes,
            sizeCalculation: ({ body }) => body.length + OVERHEAD_BYTES,
            ttl: LIFETIME_MS,
            fetchMethod: (afterId) => this.#load(afterId),
            // If `clear()` runs during a load, waiting requests get the result, but it is not cached.
            ignoreFetchAbort: true,
          });
  }

  /** Returns the page after an id; null past the last product. */
  async after(id: number): Promise<ProductPage | null> {
    const cached = this.#cache?.get(id);
    const page = cached ?? (await (this.#cache?.forceFetch(id) ?? this.#load(id)));
    if (this.#cache !== null && cached === undefined) catalogCacheBytes.set(this.#cache.calculatedSize);
    if (page.body.length === 0) return null;
    catalogCachePages.inc({ result: cached === undefined ? 'miss' : 'hit' });
    return page;
  }

  /** Returns a page of the products whose names contain the words of a text, uncached; null past the last product. */
  async found(text: string, id: number): Promise<ProductPage | null> {
    const page = await this.#load(id, text);
    return page.body.length === 0 ? null : page;
  }

  /** Clears the cache, including pages that are being loaded. Call it after each commit that changes a product. */
  clear(): void {
    this.#cache?.clear();
  }

  async #load(afterId: number, search?: string): Promise<ProductPage> {
    const text = await this.products.page(afterId, this.images.localPrefix, search);
    const body = Buffer.from(text ?? '');
    return { body, etag: `W/"${createHash('sha1').update(body).digest('base64url')}"` };
  }
}

/** Sends a page, or 304 if the client has it. */
export function sendPage(response: Response, { body, etag }: ProductPage): void {
  response.setHeader('ETag', etag);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.send(body);
}
