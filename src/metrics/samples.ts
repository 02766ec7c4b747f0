import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { collectDefaultMetrics, Gauge } from 'prom-client';
import { countJobs } from '../jobs/job-table.js';
import type { JobsService } from '../jobs/jobs.service.js';

const DEADLINE_MS = 1000;
const POOL = 'db_client_connection_pool_name';
const STATE = 'db_client_connection_state';

// Node's own: event loop, memory, garbage collection.
collectDefaultMetrics();
const jobsByState = new Gauge({
  name: 'bakery_jobs',
  help: 'Jobs in the database by state and task; the same in every process',
  labelNames: ['state', 'task'],
});
const oldestDueAge = new Gauge({
  name: 'bakery_jobs_oldest_due_age_seconds',
  help: 'How long the oldest job that is due has been waiting; the same in every process',
});
const databaseUp = new Gauge({
  name: 'bakery_database_up',
  help: 'Whether the database answered this process within a second when it was last asked about the queue',
});
const queueWorking = new Gauge({ name: 'bakery_queue_working', help: 'Whether this process takes jobs' });
/** @see https://opentelemetry.io/docs/specs/semconv/database/database-metrics/#connection-pools */
const connections = new Gauge({
  name: 'db_client_connection_count',
  help: 'Database connections that are open, by pool and by whether they are in use',
  labelNames: [POOL, STATE],
});
const mostConnections = new Gauge({
  name: 'db_client_connection_max',
  help: 'Most database connections that a pool opens',
  labelNames: [POOL],
});
const waiting = new Gauge({
  name: 'db_client_connection_pending_requests',
  help: 'Callers that wait for a connection of a pool',
  labelNames: [POOL],
});

/**
 * Samples the queue. Its numbers come from the database, hence are the same in every process: take their maximum, not
 * their sum. While the database does not answer they are absent, and `bakery_database_up` is 0.
 */
export async function sampleJobs(jobs: JobsService): Promise<void> {
  // Waiting for a connection takes longer than a scrape should. The queue itself logs what is wrong with it.
  const deadline = delay(DEADLINE_MS, null, { ref: false });
  const counts = await Promise.race([countJobs(jobs.pool), deadline]).catch(() => null);
  jobsByState.reset();
  oldestDueAge.remove();
  for (const { state, task, count } of counts ?? []) jobsByState.set({ state, task }, count);
  if (counts) oldestDueAge.set(Math.max(0, ...counts.map(({ lateSeconds }) => lateSeconds)));
  databaseUp.set(counts ? 1 : 0);
  queueWorking.set(jobs.isWorking ? 1 : 0);
}

/** Samples a pool of database connections. */
export function samplePool(name: string, { totalCount, idleCount, waitingCount, options }: Pool): void {
  connections.set({ [POOL]: name, [STATE]: 'idle' }, idleCount);
  connections.set({ [POOL]: name, [STATE]: 'used' }, totalCount - idleCount);
  mostConnections.set({ [POOL]: name }, options.max);
  waiting.set({ [POOL]: name }, waitingCount);
}
