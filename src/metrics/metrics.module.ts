import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { ProductsModule } from '../products/products.module.js';
import { MetricsServer } from './metrics.server.js';

/** Loaded if METRICS_PORT is set. The counters and histograms are in common/metrics.ts. */
@Module({ imports: [JobsModule, ProductsModule], providers: [MetricsServer] })
export class MetricsModule {}
