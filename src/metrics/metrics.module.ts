import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { ProductsModule } from '../products/products.module.js';
import { CatalogMetrics } from './catalog.metrics.js';
import { EventMetrics } from './event.metrics.js';
import { HttpMetrics } from './http.metrics.js';
import { JobsMetrics } from './jobs.metrics.js';
import { MetricsRegistry } from './metrics.registry.js';
import { MetricsServer } from './metrics.server.js';
import { PoolMetrics } from './pool.metrics.js';

/** Prometheus metrics; loaded when METRICS_PORT is set. */
@Module({
  imports: [JobsModule, PaymentsModule, ProductsModule],
  providers: [
    MetricsRegistry,
    MetricsServer,
    HttpMetrics,
    EventMetrics,
    PoolMetrics,
    JobsMetrics,
    CatalogMetrics,
  ],
})
export class MetricsModule {}
