import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { catalogCacheBytes, catalogCachePages } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { ImagesService } from '../images/images.service.js';
import { ProductsRepository } from './products.repository.js';

/** One page of the list, ready to be sent. */
export interface ProductPage {
  /** The answer's JSON; empty past the last product. */
  readonly body: Buffer;
  /** As it stands in the header. */
  readonly etag: string;
}

/** By how long another process's change may be overlooked. */
const LIFETIME_MS = 1000;
/** Memory that a page takes besides its body: its tag, its buffer and its place in the cache. */
const OVERHEAD_BYTES = 512;

/**
 * Pages of the product list, kept in memory for a second, at most CATALOG_CACHE_MB of them. A page is loaded once for
 * all callers that wait for it.
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
            // A load that `clear` overtakes is answered to those who wait for it, and is not kept.
            ignoreFetchAbort: true,
          });
  }

  /** At most 50 products after an id, ordered by id; null past the last one. */
  async after(id: number): Promise<ProductPage | null> {
    const kept = this.#cache?.get(id);
    const page = kept ?? (await (this.#cache?.forceFetch(id) ?? this.#load(id)));
    if (this.#cache !== null && kept === undefined) catalogCacheBytes.set(this.#cache.calculatedSize);
    if (page.body.length === 0) return null;
    catalogCachePages.inc({ result: kept === undefined ? 'miss' : 'hit' });
    return page;
  }

  /** At most 50 products after an id whose name contains a text, read anew each time; null past the last one. */
  async found(text: string, id: number): Promise<ProductPage | null> {
    const page = await this.#load(id, text);
    return page.body.length === 0 ? null : page;
  }

  /** Forgets every page, those that are being loaded included. Call it after each commit that changes a product. */
  clear(): void {
    this.#cache?.clear();
  }

  async #load(afterId: number, search?: string): Promise<ProductPage> {
    const text = await this.products.page(afterId, this.images.localPrefix, search);
    const body = Buffer.from(text ?? '');
    return { body, etag: `W/"${createHash('sha1').update(body).digest('base64url')}"` };
  }
}

/** Answers with a page, or 304 to a caller that has it. */
export function sendPage(response: Response, { body, etag }: ProductPage): void {
  response.setHeader('ETag', etag);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.send(body);
}
