import type pg from 'pg';
import { Counter } from 'prom-client';

// https://opentelemetry.io/docs/specs/semconv/database/database-metrics/#connection-pools
const POOL = 'db_client_connection_pool_name';

const lostConnections = new Counter({
  name: 'bakery_database_connections_lost_total',
  help: 'Database connections that broke, by pool. Each failover or restart of the server breaks the open ones',
  labelNames: [POOL],
});

/** Prevents the loss of a connection from ending the process. The running statement fails, or the next one. */
export function surviveLostConnection(client: pg.ClientBase): void {
  client.on('error', () => undefined);
}

/** Returns a listener for new connections of a pool. The listener makes the process survive their loss, and counts it. */
export function countLostConnections(pool: 'requests' | 'jobs'): (client: pg.ClientBase) => void {
  lostConnections.inc({ [POOL]: pool }, 0);
  return (client) => {
    surviveLostConnection(client);
    client.once('error', () => {
      lostConnections.inc({ [POOL]: pool });
    });
  };
}
