import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { ProductsModule } from '../products/products.module.js';
import { MetricsServer } from './metrics.server.js';

@Module({ imports: [JobsModule, ProductsModule], providers: [MetricsServer] })
export class MetricsModule {}
