import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { MetricsServer } from './metrics.server.js';

/**
 * Prometheus metrics on a port of their own, and what is sampled when they are read; loaded when METRICS_PORT is set.
 * What is counted as it happens stands in common/metrics.ts.
 */
@Module({ imports: [JobsModule], providers: [MetricsServer] })
export class MetricsModule {}
