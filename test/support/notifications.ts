import { createHash, randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import { Client } from './client.js';
import { SERVER_KEY, type TestService } from './service.js';

export const NOTIFICATIONS_PATH = '/api/products/payments';

/** The documented fields of a payment notification (contract 4.9), all strings, in the documented order. */
export const NOTIFICATION_FIELDS = [
  'transaction_time',
  'status_code',
  'transaction_status',
  'signature_key',
  'gross_amount',
  'order_id',
  'transaction_id',
  'payment_type',
  'fraud_status',
] as const;

export type Notification = Record<(typeof NOTIFICATION_FIELDS)[number], string>;

/** Computes a signature (contract 5, rule 5), independently of the code under test. */
export function computeSignature(
  { order_id, status_code, gross_amount }: Pick<Notification, 'order_id' | 'status_code' | 'gross_amount'>,
  serverKey = SERVER_KEY,
): string {
  const text = order_id + status_code + gross_amount + serverKey;
  return createHash('sha512').update(text).digest('hex');
}

/** Builds a signed notification, by default of a settlement of an unknown order. */
export function buildNotification(fields: Partial<Notification> = {}): Notification {
  const unsigned = {
    transaction_time: '2026-11-20 17:05:12',
    status_code: '200',
    transaction_status: 'settlement',
    gross_amount: '185000.00',
    order_id: randomUUID(),
    transaction_id: randomUUID(),
    payment_type: 'bank_transfer',
    fraud_status: 'accept',
    ...fields,
  };
  return { ...unsigned, signature_key: fields.signature_key ?? computeSignature(unsigned) };
}

/** Sends a notification as the gateway does, without cookies. */
export function sendNotification({ url }: Pick<TestService, 'url'>, body: object | string): Test {
  return new Client(url).post(NOTIFICATIONS_PATH).type('json').send(body);
}

/** Stored payment event. The table `payment_notifications` contains payment events of all kinds. */
interface HistoryRow {
  readonly source: string;
  readonly outcome: string;
  readonly transaction_id: string | null;
  readonly transaction_status: string | null;
  readonly payload: string;
}

/** Returns the payment history of an order, oldest first. */
export function readHistory({ database }: TestService, orderId: string): Promise<HistoryRow[]> {
  return database.query<HistoryRow>(
    `SELECT source, outcome, transaction_id, transaction_status, payload
     FROM payment_notifications WHERE order_id = $1 ORDER BY id`,
    [orderId],
  );
}
