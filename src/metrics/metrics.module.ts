import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { ProductsModule } from '../products/products.module.js';
import { MetricsServer } from './metrics.server.js';

/** Serves metrics. The counters and histograms of a feature are in its file `*.metrics.ts`. */
@Module({ imports: [JobsModule, ProductsModule], providers: [MetricsServer] })
export class MetricsModule {}
