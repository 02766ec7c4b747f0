import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Gauge } from 'prom-client';
import { readBackupAge } from '../common/backup-files.js';
import { WRITE_STATE_QUERY, type WriteState } from '../database/database.js';
import { POOL } from '../database/with-client.js';
import { countJobs } from '../jobs/job-table.js';
import type { JobsService } from '../jobs/jobs.service.js';
import type { ProductsService } from '../products/products.service.js';

/** A scrape should not wait for a database or a disk that does not respond. */
const READ_TIMEOUT_MS = 1000;
const STATE = 'db_client_connection_state';

const jobsByState = new Gauge({
  name: 'bakery_jobs',
  help: 'Jobs in the database by state and task; the same in every process',
  labelNames: ['state', 'task'],
});
const maxOverdueSeconds = new Gauge({
  name: 'bakery_jobs_oldest_due_age_seconds',
  help: 'Time by which the most overdue job is late, retries included; the same in every process',
});
const unavailableProducts = new Gauge({
  name: 'bakery_products_unavailable',
  help: 'Products that customers cannot see or order now; the same in every process',
});
const backupAge = new Gauge({
  name: 'bakery_backup_age_seconds',
  help:
    'Time since the newest checked backup in BACKUP_DIR; +Inf if there is none or BACKUP_DIR cannot be read, absent if ' +
    'BACKUP_DIR is unset',
});
const databaseUp = new Gauge({
  name: 'bakery_database_up',
  help: '1 if the database responded to this process within a second at the last scrape',
});
const databaseReadOnly = new Gauge({
  name: 'bakery_database_read_only',
  help: '1 if the database server that this process uses is read-only or a standby',
});
const queueWorking = new Gauge({ name: 'bakery_queue_working', help: '1 if this process can fetch jobs' });
const fetchAge = new Gauge({
  name: 'bakery_queue_fetch_age_seconds',
  help: 'Time since this process last polled the queue, even if no job could run. An idle process polls every 30 seconds',
});
const connections = new Gauge({
  name: 'db_client_connection_count',
  help: 'Open database connections by pool and by state: used or idle',
  labelNames: [POOL, STATE],
});
const maxConnections = new Gauge({
  name: 'db_client_connection_max',
  help: 'Maximum number of database connections of a pool',
  labelNames: [POOL],
});
const pendingRequests = new Gauge({
  name: 'db_client_connection_pending_requests',
  help: 'Callers that wait for a connection of a pool',
  labelNames: [POOL],
});

/**
 * Samples the database and the queue. The numbers of jobs are the same in every process, so PromQL queries must use
 * max(), not sum(). While the database does not respond, the numbers are absent and `bakery_database_up` is 0.
 */
export async function sampleDatabaseAndQueue(jobs: JobsService): Promise<void> {
  const { pool } = jobs.queue;
  const sample = await readInTime(Promise.all([countJobs(pool), pool.query<WriteState>(WRITE_STATE_QUERY)]));
  // `reset` would set a gauge without labels to 0. `remove` makes the gauge absent.
  jobsByState.reset();
  maxOverdueSeconds.remove();
  databaseReadOnly.remove();
  databaseUp.set(sample ? 1 : 0);
  queueWorking.set(jobs.queue.isWorking ? 1 : 0);
  fetchAge.set(jobs.queue.fetchAgeSeconds);
  if (sample === null) return;
  const [counts, { rows }] = sample;
  for (const { state, task, count } of counts) jobsByState.set({ state, task }, count);
  maxOverdueSeconds.set(Math.max(0, ...counts.map(({ overdueSeconds }) => overdueSeconds)));
  databaseReadOnly.set(rows[0]?.isReadOnly === true ? 1 : 0);
}

/** Returns null if a read fails or takes too long. The failure is not logged: the metric is the report. */
function readInTime<T>(read: Promise<T>): Promise<T | null> {
  return Promise.race([read, delay(READ_TIMEOUT_MS, null, { ref: false })]).catch(() => null);
}

/** Samples the number of unavailable products. The number is absent while the database does not respond. */
export async function sampleProducts(products: ProductsService): Promise<void> {
  const count = await readInTime(products.countUnavailable());
  unavailableProducts.remove();
  if (count !== null) unavailableProducts.set(count);
}

/** One read at a time: reads of a disk that hangs would otherwise occupy all of Node's threads. */
let backupAgeRead: Promise<number> | undefined;

/** Samples the age of the newest backup. The age is infinite if the folder cannot be read, and absent without a folder. */
export async function sampleBackups(folder: string | undefined): Promise<void> {
  if (folder === undefined) {
    backupAge.remove(); // A new gauge without labels is 0, not absent.
    return;
  }
  backupAgeRead ??= readBackupAge(folder)
    .catch(() => Infinity)
    .finally(() => (backupAgeRead = undefined));
  backupAge.set((await readInTime(backupAgeRead)) ?? Infinity);
}

export function samplePool(name: string, { totalCount, idleCount, waitingCount, options }: Pool): void {
  connections.set({ [POOL]: name, [STATE]: 'idle' }, idleCount);
  connections.set({ [POOL]: name, [STATE]: 'used' }, totalCount - idleCount);
  maxConnections.set({ [POOL]: name }, options.max);
  pendingRequests.set({ [POOL]: name }, waitingCount);
}
