import { Counter, Gauge } from 'prom-client';
import { createCounter } from '../common/observability/metrics.js';

export const formOutcomes = createCounter(
  'bakery_uploads_total',
  'Multipart forms by outcome of reading',
  'outcome',
  ['received', 'too_large', 'too_slow', 'malformed'],
);

export const formImageBytes = new Counter({
  name: 'bakery_upload_bytes_total',
  help: 'Bytes of images in received forms',
});

export const formsInFlight = new Gauge({
  name: 'bakery_uploads_in_flight',
  help: 'Multipart forms that are being read or handled, without those that wait',
});
