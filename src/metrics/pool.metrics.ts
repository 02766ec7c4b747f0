import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { poolOf, type PoolState } from '../config/database-pool.js';
import { JobsService } from '../jobs/jobs.service.js';
import { ReservedDatabase } from '../payments/reserved-database.js';
import { MetricsRegistry } from './metrics.registry.js';

const POOL = 'db_client_connection_pool_name';
const STATE = 'db_client_connection_state';

/**
 * The pools of database connections: of requests, the reserve for payment notifications (docs/decisions/12) and
 * the queue's.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/database/database-metrics/#connection-pools
 */
@Injectable()
export class PoolMetrics {
  constructor(
    { registry }: MetricsRegistry,
    dataSource: DataSource,
    reserve: ReservedDatabase,
    jobs: JobsService,
  ) {
    const pools: readonly [string, () => PoolState][] = [
      ['requests', () => poolOf(dataSource)],
      ['reserve', () => reserve.pool],
      ['jobs', () => jobs.pool],
    ];
    const registers = [registry];
    new Gauge({
      name: 'db_client_connection_count',
      help: 'Database connections that are open, by pool and by whether they are in use',
      labelNames: [POOL, STATE],
      registers,
      collect() {
        for (const [name, pool] of pools) {
          const { totalCount, idleCount } = pool();
          this.set({ [POOL]: name, [STATE]: 'idle' }, idleCount);
          this.set({ [POOL]: name, [STATE]: 'used' }, totalCount - idleCount);
        }
      },
    });
    new Gauge({
      name: 'db_client_connection_max',
      help: 'Most database connections that a pool opens',
      labelNames: [POOL],
      registers,
      collect() {
        for (const [name, pool] of pools) this.set({ [POOL]: name }, pool().options.max);
      },
    });
    new Gauge({
      name: 'db_client_connection_pending_requests',
      help: 'Who waits for a connection of a pool',
      labelNames: [POOL],
      registers,
      collect() {
        for (const [name, pool] of pools) this.set({ [POOL]: name }, pool().waitingCount);
      },
    });
  }
}
