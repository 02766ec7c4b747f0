import type { DataSourceOptions } from 'typeorm';
import { InitialSchema1763600000000 } from '../../migrations/1763600000000-initial-schema.js';
import { Simulator1763700000000 } from '../../migrations/1763700000000-simulator.js';
import { Orders1763800000000 } from '../../migrations/1763800000000-orders.js';
import { AttemptOfOrder1763810000000 } from '../../migrations/1763810000000-attempt-of-order.js';
import { AttemptCounts1763900000000 } from '../../migrations/1763900000000-attempt-counts.js';
import { CatalogNotifications1764000000000 } from '../../migrations/1764000000000-catalog-notifications.js';
import { SessionsById1765000000000 } from '../../migrations/1765000000000-sessions-by-id.js';
import { ImageNames1765100000000 } from '../../migrations/1765100000000-image-names.js';
import { NoCatalogNotifications1765110000000 } from '../../migrations/1765110000000-no-catalog-notifications.js';
import { Payments1765200000000 } from '../../migrations/1765200000000-payments.js';
import { AttemptThatCounts1765300000000 } from '../../migrations/1765300000000-attempt-that-counts.js';
import { OwnersDay1765600000000 } from '../../migrations/1765600000000-owners-day.js';
import { SimulatedPayment1765700000000 } from '../../migrations/1765700000000-simulated-payment.js';

/** Every migration, in order. An explicit list: a glob would also run files that were left behind. */
export const migrations = [
  InitialSchema1763600000000,
  Simulator1763700000000,
  Orders1763800000000,
  AttemptOfOrder1763810000000,
  AttemptCounts1763900000000,
  CatalogNotifications1764000000000,
  SessionsById1765000000000,
  ImageNames1765100000000,
  NoCatalogNotifications1765110000000,
  Payments1765200000000,
  AttemptThatCounts1765300000000,
  OwnersDay1765600000000,
  SimulatedPayment1765700000000,
];

const SECOND = 1000;

/**
 * No transaction holds a lock for longer than moments. With the wait for a connection a payment notification is then
 * answered, if only with 503, within the 15 seconds that the gateway gives it.
 */
const LOCK_WAIT_MS = 4 * SECOND;

/**
 * TypeORM options for the service, its commands and the tests. Every wait is bounded, so that a database that is
 * away or stuck shows as an error within seconds.
 */
export function dataSourceOptions(url: string) {
  return {
    type: 'postgres',
    url,
    migrations,
    migrationsTableName: 'migrations',
    synchronize: false,
    installExtensions: false,
    poolSize: 10,
    poolErrorHandler: () => {
      // The pool drops an idle connection that breaks; the query that needs the database reports it.
    },
    connectTimeoutMS: 5 * SECOND,
    extra: {
      application_name: 'bakery',
      statement_timeout: 10 * SECOND,
      lock_timeout: LOCK_WAIT_MS,
      idle_in_transaction_session_timeout: 10 * SECOND,
      // Longer than any statement may take. After a failover, a connection to the server that vanished is cut by it.
      query_timeout: 11 * SECOND,
      // Statements that are begun together (`Promise.all`) are sent together. The server runs them in their order.
      pipeline: true,
      keepAlive: true,
    },
  } as const satisfies DataSourceOptions;
}
