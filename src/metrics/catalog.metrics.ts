import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { ProductListService } from '../products/listing/product-list.service.js';
import { MetricsRegistry } from './metrics.registry.js';

/** The memory of the product list (docs/decisions/11); without it these are absent. */
@Injectable()
export class CatalogMetrics {
  constructor({ registry }: MetricsRegistry, productList: ProductListService) {
    if (productList.cacheState === null) return;
    const registers = [registry];
    new Gauge({
      name: 'bakery_catalog_cache_bytes',
      help: 'Memory that the serialised product list takes up',
      registers,
      collect() {
        this.set(productList.cacheState?.bytes ?? 0);
      },
    });
    new Gauge({
      name: 'bakery_catalog_cache_current',
      help: 'Whether changes of products are heard; if not, every page is read from the database',
      registers,
      collect() {
        this.set(productList.cacheState?.isCurrent === true ? 1 : 0);
      },
    });
    new Counter({
      name: 'bakery_catalog_cache_pages_total',
      help: 'Pages of the product list by whether they were in memory',
      labelNames: ['result'],
      registers,
      collect() {
        // The list counts by itself, which is cheaper than being told of each page.
        this.reset();
        this.inc({ result: 'hit' }, productList.cacheState?.hits ?? 0);
        this.inc({ result: 'miss' }, productList.cacheState?.misses ?? 0);
      },
    });
  }
}
