import { isUUID } from 'class-validator';
import { parseObject } from '../gateway/midtrans.messages.js';
import type { TransactionStatus } from '../gateway/payment-gateway.js';
import { FAILED_STATUSES, isCompleted, isReceived, REFUND_STATUSES } from '../orders/order-status.js';
import type { Outcome, PaymentEvent } from './payment-event.entity.js';

/** Payment event about a transaction. Any other event ends an order for which no transaction was open. */
type TransactionEvent = PaymentEvent & { transactionId: string; status: TransactionStatus };

/** One try of a customer to pay, with its own id at the gateway: the result of its events. */
export interface Transaction {
  readonly transactionId: string;
  readonly attemptId: string | null;
  readonly paymentType: string | null;
  readonly status: TransactionStatus;
  readonly fraudStatus: string | null;
  /** As received, for example `185000.00`. */
  readonly grossAmount: string | null;
  /** Whole rupiah that the gateway returned. */
  readonly gatewayRefunds: number;
  /** Whole rupiah that were returned outside of the gateway. */
  readonly manualRefunds: number;
  /** Sum of both, at most the total of the order. */
  readonly refundedAmount: number;
  /** Position in the history of the event since which the transaction holds money; null if it holds none. */
  readonly heldSincePosition: number | null;
  /** Position in the history of the latest event that changed the transaction. */
  readonly lastChangePosition: number;
  /** Time in milliseconds at which the customer chose the payment method, as the gateway states it. */
  readonly startedAt: number | null;
  /** Time at which the service learned that the payment was completed. Null in every other status. */
  readonly completedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Order in which a transaction moves forward. A captured card payment in review comes before an accepted one. */
const STEPS: readonly string[] = ['pending', 'authorize', 'review', 'capture', 'settlement'];

export function isOfTransaction(event: PaymentEvent): event is TransactionEvent {
  return event.transactionId !== null && event.status !== null;
}

/** Returns true if the shop has received money with a transaction and has not returned all of it. */
export function holdsMoney({ heldSincePosition }: Transaction): boolean {
  return heldSincePosition !== null;
}

export function isRefundedInFull(transaction: Transaction): boolean {
  return REFUND_STATUSES.includes(transaction.status) && !holdsMoney(transaction);
}

/** Returns true if a transaction is pending, authorized or in review. Also a failed one can still receive money: `canFollow`. */
export function isUndecided({ status, fraudStatus }: Transaction): boolean {
  const step = stepOf(status, fraudStatus);
  return step >= 0 && step < STEPS.indexOf('capture');
}

/**
 * Applies an event to its transaction (docs/decisions/08). Returns `duplicate` or `late` for an event that changes nothing.
 * @param total total of the order in whole rupiah
 * @param position number of earlier events in the history
 */
export function applyEvent(
  current: Transaction | undefined,
  event: TransactionEvent,
  total: number,
  position: number,
): Transaction | Extract<Outcome, 'duplicate' | 'late'> {
  const next = advance(current, event, total, position);
  if (current === undefined) return next;
  const isSmallerSum = (readGatewayRefunds(event, total) ?? next.gatewayRefunds) < next.gatewayRefunds;
  if (next.status === 'partial_refund' && isSmallerSum) return 'late';
  const isUnchanged = next.status === current.status && next.fraudStatus === current.fraudStatus;
  const isRefundKnown = next.status === 'partial_refund' && current.status === 'refund';
  if ((isUnchanged || isRefundKnown) && next.refundedAmount === current.refundedAmount) return 'duplicate';
  return canFollow(current, next) ? next : 'late';
}

function canFollow(current: Transaction, next: Transaction): boolean {
  if (REFUND_STATUSES.includes(next.status)) {
    const isFirst = !REFUND_STATUSES.includes(current.status);
    const isWhole = next.status === 'refund' && current.status === 'partial_refund';
    return isFirst || isWhole || next.refundedAmount > current.refundedAmount;
  }
  if (REFUND_STATUSES.includes(current.status)) return false;
  if (FAILED_STATUSES.includes(current.status)) return isReceived(next.status, next.fraudStatus);
  return (
    FAILED_STATUSES.includes(next.status) ||
    stepOf(next.status, next.fraudStatus) >= stepOf(current.status, current.fraudStatus)
  );
}

function stepOf(status: TransactionStatus, fraudStatus: string | null): number {
  return STEPS.indexOf(status === 'capture' && !isReceived(status, fraudStatus) ? 'review' : status);
}

/** A field that the event does not contain keeps its value. */
function advance(
  current: Transaction | undefined,
  event: TransactionEvent,
  total: number,
  position: number,
): Transaction {
  const { transactionId, status, source, receivedAt } = event;
  const payload = parseObject(event.payload) ?? {};
  const isManual = source === 'refund' && payload.manual === true;
  const gatewayRefunds = Math.max(current?.gatewayRefunds ?? 0, readGatewayRefunds(event, total) ?? 0);
  const manualRefunds = (current?.manualRefunds ?? 0) + (isManual ? Number(payload.amount) : 0);
  const refundedAmount = Math.min(gatewayRefunds + manualRefunds, total);
  const fraudStatus = event.fraudStatus ?? current?.fraudStatus ?? null;
  const isHeld = isReceived(status, fraudStatus) && refundedAmount < total;
  return {
    transactionId,
    // Version 1.2 does not store the attempt of an event.
    attemptId: current?.attemptId ?? event.attemptId ?? parseAttemptId(payload.order_id),
    paymentType:
      typeof payload.payment_type === 'string' ? payload.payment_type : (current?.paymentType ?? null),
    status,
    fraudStatus,
    grossAmount: event.grossAmount ?? current?.grossAmount ?? null,
    gatewayRefunds,
    manualRefunds,
    refundedAmount,
    heldSincePosition: isHeld ? (current?.heldSincePosition ?? position) : null,
    lastChangePosition: position,
    startedAt: current?.startedAt ?? parseGatewayTime(payload.transaction_time),
    completedAt: isCompleted(status) ? (current?.completedAt ?? receivedAt) : null,
    createdAt: current?.createdAt ?? receivedAt,
    updatedAt: receivedAt,
  };
}

/** Returns the sum of the transaction's refunds at the gateway; null if the event does not state it. */
function readGatewayRefunds({ status, source, refundAmount }: TransactionEvent, total: number) {
  // The service's own refund states the gateway's part in `refundAmount`, because manual refunds may be part of the total.
  if (status === 'refund' && source !== 'refund') return total;
  return REFUND_STATUSES.includes(status) ? refundAmount : null;
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
