import { Counter } from 'prom-client';

// https://opentelemetry.io/docs/specs/semconv/database/database-metrics/#connection-pools
export const POOL = 'db_client_connection_pool_name';

export const lostConnections = new Counter({
  name: 'bakery_database_connections_lost_total',
  help: 'Database connections that broke, by pool. Each failover or restart of the server breaks the open ones',
  labelNames: [POOL],
});
