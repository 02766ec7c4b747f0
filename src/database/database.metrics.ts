import { createCounter } from '../common/observability/metrics.js';

// https://opentelemetry.io/docs/specs/semconv/database/database-metrics/#connection-pools
export const POOL = 'db_client_connection_pool_name';

export const lostConnections = createCounter(
  'bakery_database_connections_lost_total',
  'Database connections that broke, by pool. Each failover or restart of the server breaks the open ones',
  POOL,
  ['requests', 'jobs'],
);
