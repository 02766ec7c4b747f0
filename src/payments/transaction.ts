import { isUUID } from 'class-validator';
import type { TransactionStatus } from '../gateway/payment-gateway.js';
import { FAILED_STATUSES, isReceived } from '../orders/order-status.js';
import type { Outcome, PaymentEvent } from './payment-event.entity.js';

/** One try of a customer to pay, with its own id at the gateway, as the history of its order describes it. */
export interface Transaction {
  readonly transactionId: string;
  /** Id of the payment attempt. Null if the history does not contain it. */
  readonly attemptId: string | null;
  readonly paymentType: string | null;
  readonly status: TransactionStatus;
  readonly fraudStatus: string | null;
  /** As received, for example `185000.00`. */
  readonly grossAmount: string | null;
  /** Whole rupiah that the gateway returned. */
  readonly refundedByGateway: number;
  /** Whole rupiah that were returned outside of the gateway. */
  readonly refundedByHand: number;
  /** Sum of both, at most the total of the order. */
  readonly refundedAmount: number;
  /** Position in the history of the event since which the transaction holds money; null if it holds none. */
  readonly heldSince: number | null;
  /** Position of the latest event that changed the transaction. */
  readonly changedBy: number;
  /** Time of the gateway at which the customer chose the payment method; null if no event contains it. */
  readonly startedAt: number | null;
  /** Time at which the service learned that the payment was completed. Null in every other status. */
  readonly completedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const REFUND_STATUSES: readonly (TransactionStatus | null)[] = ['partial_refund', 'refund'];
/** Order in which a transaction moves forward. A captured card payment in review comes before an accepted one. */
const STEPS: readonly (TransactionStatus | 'review' | null)[] = [
  'pending',
  'authorize',
  'review',
  'capture',
  'settlement',
];

/** Returns true if the shop has received money with a transaction and has not returned all of it. */
export function holdsMoney({ heldSince }: Transaction): boolean {
  return heldSince !== null;
}

export function isRefundedInFull(transaction: Transaction): boolean {
  return REFUND_STATUSES.includes(transaction.status) && !holdsMoney(transaction);
}

/** Returns true if a transaction can still bring money. */
export function isOpenTransaction({ status, fraudStatus }: Transaction): boolean {
  const step = stepOf(status, fraudStatus);
  return step >= 0 && step < STEPS.indexOf('capture');
}

/**
 * Applies an event to its transaction (docs/decisions/08).
 * @param current the transaction before the event; undefined for its first event
 * @param total total of the order in whole rupiah
 * @param position number of earlier events in the history
 * @returns the new state, or `duplicate` or `late` for an event that changes nothing
 */
export function applyEvent(
  current: Transaction | undefined,
  event: PaymentEvent,
  total: number,
  position: number,
): Transaction | Exclude<Outcome, 'rejected' | 'unconfirmed'> {
  const next = advance(current, event, total, position);
  if (current === undefined) return next;
  const isSmallerSum = event.refundAmount !== null && event.refundAmount < current.refundedByGateway;
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

/** Returns the state that a transaction has if the event applies. */
function advance(
  current: Transaction | undefined,
  event: PaymentEvent,
  total: number,
  position: number,
): Transaction {
  const { transactionId, refundAmount, receivedAt } = event;
  const message = readPayload(event.payload);
  const isManual = event.source === 'refund' && message.manual === true;
  // Only rejected events have no status, and they are not part of a transaction.
  const status = event.status ?? 'pending';
  const isRefundInFull = status === 'refund' && event.source !== 'refund';
  const refundedByGateway = Math.max(
    current?.refundedByGateway ?? 0,
    isRefundInFull ? total : REFUND_STATUSES.includes(status) ? (refundAmount ?? 0) : 0,
  );
  const refundedByHand = (current?.refundedByHand ?? 0) + (isManual ? Number(message.amount) : 0);
  const refundedAmount = Math.min(refundedByGateway + refundedByHand, total);
  const fraudStatus = event.fraudStatus ?? current?.fraudStatus ?? null;
  const isCompleted = status === 'settlement' || status === 'capture';
  const startedAt = parseGatewayTime(message.transaction_time);
  const isHeld = isReceived(status, fraudStatus) && refundedAmount < total;
  return {
    transactionId: transactionId ?? '',
    // Version 1.2 does not store the attempt of an event.
    attemptId: current?.attemptId ?? event.attemptId ?? parseAttemptId(message.order_id),
    paymentType:
      typeof message.payment_type === 'string' ? message.payment_type : (current?.paymentType ?? null),
    status,
    fraudStatus,
    grossAmount: event.grossAmount ?? current?.grossAmount ?? null,
    refundedByGateway,
    refundedByHand,
    refundedAmount,
    heldSince: isHeld ? (current?.heldSince ?? position) : null,
    changedBy: position,
    startedAt: current?.startedAt ?? startedAt,
    completedAt: isCompleted ? (current?.completedAt ?? receivedAt) : null,
    createdAt: current?.createdAt ?? receivedAt,
    updatedAt: receivedAt,
  };
}

/** Fields of a message of the gateway, or of JSON that the service wrote. */
export type Message = Readonly<Record<string, unknown>>;

export function readPayload(payload: string): Message {
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === 'object' && value !== null ? (value as Message) : {};
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
