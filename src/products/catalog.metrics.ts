import { Gauge } from 'prom-client';
import { createCounter } from '../common/observability/metrics.js';

export const catalogCachePages = createCounter(
  'bakery_catalog_cache_pages_total',
  'Cache lookups for pages of the product list',
  'result',
  ['hit', 'miss'],
);

export const catalogCacheBytes = new Gauge({
  name: 'bakery_catalog_cache_bytes',
  help: 'Memory of the cached product list',
});
