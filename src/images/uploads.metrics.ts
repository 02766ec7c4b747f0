import { Counter, Gauge } from 'prom-client';
import { createCounter } from '../common/observability/metrics.js';

export const uploads = createCounter('bakery_uploads_total', 'Forms with images by outcome', {
  outcome: ['received', 'too_large', 'too_slow', 'malformed'],
});

export const uploadBytes = new Counter({
  name: 'bakery_upload_bytes_total',
  help: 'Bytes of images in received forms',
});

export const uploadsInFlight = new Gauge({
  name: 'bakery_uploads_in_flight',
  help: 'Forms with images in progress',
});
