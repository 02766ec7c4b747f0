import { Counter } from 'prom-client';

export const lostConnections = new Counter({
  name: 'bakery_database_connections_lost_total',
  help: 'Database connections that broke, by pool. Each failover or restart of the server breaks the open ones',
  // https://opentelemetry.io/docs/specs/semconv/database/database-metrics/#connection-pools
  labelNames: ['db_client_connection_pool_name'],
});
