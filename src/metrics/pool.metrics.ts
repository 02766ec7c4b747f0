import type { Pool } from 'pg';
import { Gauge, type Registry } from 'prom-client';

const POOL = 'db_client_connection_pool_name';
const STATE = 'db_client_connection_state';

/**
 * Samples pools of database connections, by name.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/database/database-metrics/#connection-pools
 */
export function addPoolMetrics(registry: Registry, pools: Readonly<Record<string, Pool>>): void {
  const registers = [registry];
  new Gauge({
    name: 'db_client_connection_count',
    help: 'Database connections that are open, by pool and by whether they are in use',
    labelNames: [POOL, STATE],
    registers,
    collect() {
      for (const [name, { totalCount, idleCount }] of Object.entries(pools)) {
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
      for (const [name, { options }] of Object.entries(pools)) this.set({ [POOL]: name }, options.max);
    },
  });
  new Gauge({
    name: 'db_client_connection_pending_requests',
    help: 'Callers that wait for a connection of a pool',
    labelNames: [POOL],
    registers,
    collect() {
      for (const [name, { waitingCount }] of Object.entries(pools)) this.set({ [POOL]: name }, waitingCount);
    },
  });
}
