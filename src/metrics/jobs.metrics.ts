import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import type { JobStatistics } from '../jobs/job-statistics.js';
import { JobsService } from '../jobs/jobs.service.js';
import { MetricsRegistry } from './metrics.registry.js';

/** The database is asked no more often, however many scrape. */
const FRESH_MS = 5000;
const DEADLINE_MS = 1000;

/**
 * The queue. Its numbers come from the database, hence are the same in every process: take their maximum, not their
 * sum. While the database does not answer they are absent, and `bakery_database_up` says why.
 */
@Injectable()
export class JobsMetrics {
  #latest: Promise<JobStatistics | null> = Promise.resolve(null);
  #askedAt = -Infinity;

  constructor(
    { registry }: MetricsRegistry,
    private readonly jobs: JobsService,
  ) {
    const registers = [registry];
    const statistics = () => this.#statistics();
    new Gauge({
      name: 'bakery_jobs',
      help: 'Jobs in the database by state and task; the same in every process',
      labelNames: ['state', 'task'],
      registers,
      async collect() {
        const latest = await statistics();
        this.reset();
        for (const { state, task, count } of latest?.counts ?? []) this.set({ state, task }, count);
      },
    });
    new Gauge({
      name: 'bakery_jobs_oldest_due_age_seconds',
      help: 'How long the oldest job that is due has been waiting; the same in every process',
      labelNames: [],
      registers,
      async collect() {
        const latest = await statistics();
        this.remove();
        if (latest !== null) this.set(latest.oldestDueSeconds);
      },
    });
    new Gauge({
      name: 'bakery_database_up',
      help: 'Whether the database answered this process within a second when it was last asked about the queue',
      registers,
      async collect() {
        this.set((await statistics()) === null ? 0 : 1);
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

  #statistics(): Promise<JobStatistics | null> {
    const now = performance.now();
    if (now - this.#askedAt > FRESH_MS) {
      this.#askedAt = now;
      this.#latest = this.#ask();
    }
    return this.#latest;
  }

  async #ask(): Promise<JobStatistics | null> {
    const answered = new AbortController();
    const giveUp = delay(DEADLINE_MS, null, { signal: answered.signal }).catch(() => null);
    try {
      // Waiting for a connection takes longer than a scrape should.
      return await Promise.race([this.jobs.statistics(), giveUp]);
    } catch {
      return null; // Said by `bakery_database_up`; the queue itself logs what is wrong with its connections.
    } finally {
      answered.abort();
    }
  }
}
