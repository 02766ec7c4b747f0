import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { ProductsModule } from '../products/products.module.js';
import { MetricsServer } from './metrics.server.js';

/** Serves metrics. The counters and histograms of the features are in common/metrics.ts. */
@Module({ imports: [JobsModule, ProductsModule], providers: [MetricsServer] })
export class MetricsModule {}
