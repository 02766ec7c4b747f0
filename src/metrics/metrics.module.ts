import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { ProductsModule } from '../products/products.module.js';
import { MetricsServer } from './metrics.server.js';

/**
 * Serves Prometheus metrics on a separate port and samples some metrics at each scrape. Loaded if METRICS_PORT is set.
 * The counters and histograms are in common/metrics.ts.
 */
@Module({ imports: [JobsModule, ProductsModule], providers: [MetricsServer] })
export class MetricsModule {}
