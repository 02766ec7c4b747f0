import { Histogram } from 'prom-client';
import { DURATION_BUCKETS, createCounter } from '../common/observability/metrics.js';

/** This counter is in the jobs module, because `JobsService` counts the failed tries of mail jobs. */
export const mails = createCounter(
  'bakery_mails_total',
  'Mails that were sent, and failed tries of mail jobs; retried: the job was retried or superseded; dead: failed for good',
  'outcome',
  ['sent', 'retried', 'dead'],
);

export const jobDuration = new Histogram({
  name: 'bakery_job_duration_seconds',
  help: 'Duration of tries of jobs in this process: done, failed (retried or superseded) or dead',
  labelNames: ['task', 'outcome'],
  buckets: DURATION_BUCKETS,
});
