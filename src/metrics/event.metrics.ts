import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import { Telemetry, type TelemetryEvent } from '../common/telemetry.js';
import { MetricsRegistry } from './metrics.registry.js';

/** Neighbours are given 5 to 25 seconds. */
const CALL_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What the parts of the service report, counted. */
@Injectable()
export class EventMetrics {
  constructor({ registry }: MetricsRegistry, telemetry: Telemetry) {
    const registers = [registry];
    const orders = new Counter({
      name: 'bakery_orders_created_total',
      help: 'Orders that were committed',
      registers,
    });
    const notifications = new Counter({
      name: 'bakery_payment_notifications_total',
      help: 'Payment notifications by what became of them; failed: the gateway was asked to repeat it',
      labelNames: ['outcome'],
      registers,
    });
    const reconciliations = new Counter({
      name: 'bakery_payment_reconciliations_total',
      help: 'Checks of pending orders at the gateway; found: news that no notification had brought',
      labelNames: ['outcome'],
      registers,
    });
    const mails = new Counter({
      name: 'bakery_mails_total',
      help: 'Mails that were sent, tries that will be repeated (retried) and mails that were given up (dead)',
      labelNames: ['outcome'],
      registers,
    });
    const jobs = new Histogram({
      name: 'bakery_job_duration_seconds',
      help: 'Tries of jobs run by this process: done, failed (tried again) or dead (given up)',
      labelNames: ['task', 'outcome'],
      buckets: CALL_BUCKETS,
      registers,
    });
    const uploads = new Counter({
      name: 'bakery_uploads_total',
      help: 'Forms with pictures, by whether they could be read',
      labelNames: ['outcome'],
      registers,
    });
    const uploadBytes = new Counter({
      name: 'bakery_upload_bytes_total',
      help: 'Bytes of the pictures in the forms that were read',
      registers,
    });
    const uploading = new Gauge({
      name: 'bakery_uploads_in_flight',
      help: 'Forms with pictures that are being read or worked on',
      registers,
    });
    const proofs = new Counter({
      name: 'bakery_auth_proofs_total',
      help: 'Passwords (logins and changes of an account) and one-time codes given; slowed: too many were wrong',
      labelNames: ['secret', 'outcome'],
      registers,
    });
    const calls = new Histogram({
      name: 'bakery_neighbour_call_duration_seconds',
      help: 'Calls of the payment gateway and the image host, by operation and outcome',
      labelNames: ['neighbour', 'operation', 'outcome'],
      buckets: CALL_BUCKETS,
      registers,
    });

    startAtZero(notifications, ['applied', 'duplicate', 'stale', 'test', ...NOTIFICATION_FAILURES]);
    startAtZero(reconciliations, ['unchanged', 'found', 'expired', 'outdated', 'failed']);
    startAtZero(mails, ['sent', 'retried', 'dead']);
    startAtZero(uploads, ['received', 'too_large', 'malformed', 'not_kept']);
    for (const secret of ['password', 'code'])
      for (const outcome of ['ok', 'wrong', 'slowed']) proofs.inc({ secret, outcome }, 0);

    const countJob = ({ task, lane, outcome, seconds }: TelemetryEvent & { kind: 'job' }): void => {
      jobs.observe({ task, outcome }, seconds);
      if (lane === 'mail' && outcome !== 'done')
        mails.inc({ outcome: outcome === 'dead' ? 'dead' : 'retried' });
    };
    const count: { [K in TelemetryEvent['kind']]: (event: TelemetryEvent & { kind: K }) => void } = {
      order_created: () => {
        orders.inc();
      },
      notification: ({ outcome }) => {
        notifications.inc({ outcome });
      },
      reconciliation: ({ outcome }) => {
        reconciliations.inc({ outcome });
      },
      mail_sent: () => {
        mails.inc({ outcome: 'sent' });
      },
      job: countJob,
      upload_begun: () => {
        uploading.inc();
      },
      upload_ended: ({ outcome, bytes }) => {
        uploading.dec();
        uploads.inc({ outcome });
        uploadBytes.inc(bytes);
      },
      proof: ({ secret, outcome }) => {
        proofs.inc({ secret, outcome });
      },
      neighbour_call: ({ neighbour, operation, outcome, seconds }) => {
        calls.observe({ neighbour, operation, outcome }, seconds);
      },
    };
    telemetry.listen((event) => {
      // The compiler cannot see that a kind's own function gets an event of that kind.
      (count[event.kind] as (event: TelemetryEvent) => void)(event);
    });
  }
}

const NOTIFICATION_FAILURES = ['bad_signature', 'invalid', 'unknown_order', 'failed'];

/** A series that begins at 1 has no rate: its first event would go unseen. */
function startAtZero(counter: Counter<'outcome'>, outcomes: readonly string[]): void {
  for (const outcome of outcomes) counter.inc({ outcome }, 0);
}
