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
import { Shop1766200000000 } from '../../migrations/1766200000000-shop.js';
import { Refunds1766210000000 } from '../../migrations/1766210000000-refunds.js';
import { AsciiDomains1766220000000 } from '../../migrations/1766220000000-ascii-domains.js';
import { RequesterOfCodes1766230000000 } from '../../migrations/1766230000000-requester-of-codes.js';
import { Sessions1766300000000 } from '../../migrations/1766300000000-sessions.js';

/** All migrations in order. The list is explicit because a glob would also run files of an earlier build. */
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
  Shop1766200000000,
  Refunds1766210000000,
  AsciiDomains1766220000000,
  RequesterOfCodes1766230000000,
  Sessions1766300000000,
];

const SECOND = 1000;

/**
 * Limits that keep every response under 15 seconds, the time that the payment gateway waits, while the database is stuck:
 * 4 s for a connection, 4 s for a lock and 6 s for the statement that then gets no response make 14 s.
 */
const CONNECTION_WAIT_MS = 4 * SECOND;
const LOCK_WAIT_MS = 4 * SECOND;
const STATEMENT_MS = 5 * SECOND;
/** Longer than `statement_timeout`, which does not apply to a COMMIT that waits for a synchronous standby. */
const RESPONSE_MS = 6 * SECOND;

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
      // The pool removes an idle connection that breaks. The next statement reports a database that is unavailable.
    },
    connectTimeoutMS: CONNECTION_WAIT_MS,
    extra: {
      application_name: 'bakery',
      statement_timeout: STATEMENT_MS,
      lock_timeout: LOCK_WAIT_MS,
      idle_in_transaction_session_timeout: 10 * SECOND,
      query_timeout: RESPONSE_MS,
      // Statements that start together (`Promise.all`) are sent together. The server runs them in order.
      pipeline: true,
      keepAlive: true,
    },
  } as const satisfies DataSourceOptions;
}
