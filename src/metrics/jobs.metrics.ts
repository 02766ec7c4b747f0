import { setTimeout as delay } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { countJobs, type JobCount } from '../jobs/job-table.js';
import type { JobsService } from '../jobs/jobs.service.js';

/** The database is asked at most this often, however many scrapers there are. */
const FRESH_MS = 5000;
const DEADLINE_MS = 1000;

/**
 * Samples the queue. Its numbers come from the database, hence are the same in every process: take their maximum, not
 * their sum. While the database does not answer they are absent, and `bakery_database_up` is 0.
 */
export function addJobsMetrics(registry: Registry, jobs: JobsService): void {
  const registers = [registry];
  let latest: Promise<JobCount[] | null> = Promise.resolve(null);
  let askedAt = -Infinity;
  new Gauge({
    name: 'bakery_jobs',
    help: 'Jobs in the database by state and task; the same in every process',
    labelNames: ['state', 'task'],
    registers,
    // The first gauge of a scrape: it decides for the others too, so that they all tell of the same moment.
    async collect() {
      if (performance.now() - askedAt > FRESH_MS) {
        askedAt = performance.now();
        latest = countInTime(jobs);
      }
      const found = await latest;
      this.reset();
      for (const { state, task, count } of found ?? []) this.set({ state, task }, count);
    },
  });
  new Gauge({
    name: 'bakery_jobs_oldest_due_age_seconds',
    help: 'How long the oldest job that is due has been waiting; the same in every process',
    registers,
    async collect() {
      const found = await latest;
      this.remove();
      if (found !== null) this.set(Math.max(0, ...found.map(({ lateSeconds }) => lateSeconds)));
    },
  });
  new Gauge({
    name: 'bakery_database_up',
    help: 'Whether the database answered this process within a second when it was last asked about the queue',
    registers,
    async collect() {
      this.set((await latest) === null ? 0 : 1);
    },
  });
  new Gauge({
    name: 'bakery_queue_working',
    help: 'Whether this process takes jobs',
    registers,
    collect() {
      this.set(jobs.isWorking ? 1 : 0);
    },
  });
}

/** Waiting for a connection takes longer than a scrape should. @returns null when the database did not answer */
function countInTime(jobs: JobsService): Promise<JobCount[] | null> {
  const deadline = delay(DEADLINE_MS, null, { ref: false });
  // The queue itself logs what is wrong with its connections.
  return Promise.race([countJobs(jobs.pool), deadline]).catch(() => null);
}
