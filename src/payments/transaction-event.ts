import { isUUID } from 'class-validator';
import { REFUND_STATUSES } from '../orders/order-status.js';
import type { PaymentEvent } from './payment-event.entity.js';

/** Content of a payment event about its transaction. A field is null if the event does not contain it. */
export type TransactionEvent = Readonly<NonNullable<ReturnType<typeof readTransactionEvent>>>;

/** @returns null for an event that ends the order without naming a transaction */
export function readTransactionEvent(event: PaymentEvent, total: number) {
  const { transactionId, status, source, fraudStatus, grossAmount, refundAmount, receivedAt } = event;
  if (transactionId === null || status === null) return null;
  const payload = readPayload(event.payload);
  // The service's own refund states the gateway's part in `refundAmount`, because manual refunds may be part of the total.
  const isWholeRefundByGateway = status === 'refund' && source !== 'refund';
  const gatewayRefunds = REFUND_STATUSES.includes(status) ? refundAmount : null;
  const isManual = source === 'refund' && payload.manual === true;
  return {
    transactionId,
    // Version 1.2 does not store the attempt of an event.
    attemptId: event.attemptId ?? parseAttemptId(payload.order_id),
    paymentType: typeof payload.payment_type === 'string' ? payload.payment_type : null,
    status,
    fraudStatus,
    grossAmount, // As received, for example `185000.00`.
    startedAt: parseGatewayTime(payload.transaction_time), // When the customer chose the payment method.
    gatewayRefunds: isWholeRefundByGateway ? total : gatewayRefunds, // Sum of the transaction's refunds.
    manualRefund: isManual ? Number(payload.amount) : 0, // One refund outside of the gateway.
    receivedAt,
  };
}

/** Parses a message of the gateway, or JSON that the service wrote. */
export function readPayload(payload: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function parseAttemptId(value: unknown): string | null {
  return isUUID(value, 'loose') ? (value as string).toLowerCase() : null;
}

/** Returns the milliseconds of a time with an offset, or of the gateway's own format, which is a time in Jakarta. */
function parseGatewayTime(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const text = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value) ? `${value.replace(' ', 'T')}+07:00` : value;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
