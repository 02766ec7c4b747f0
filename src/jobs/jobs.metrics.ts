import { Histogram } from 'prom-client';
import { DURATION_BUCKETS, createCounter } from '../common/observability/metrics.js';

export const mails = createCounter(
  'bakery_mails_total',
  'Mails by outcome; retried: failed attempts with a retry; dead: failed for good',
  { outcome: ['sent', 'retried', 'dead'] },
);

export const jobDuration = new Histogram({
  name: 'bakery_job_duration_seconds',
  help: 'Duration of attempts of jobs in this process: done, failed (with a retry) or dead (without)',
  labelNames: ['task', 'outcome'],
  buckets: DURATION_BUCKETS,
});
