import type { TransactionStatus } from '../gateway/payment-gateway.js';
import { FAILED_STATUSES, isCompleted, isReceived, REFUND_STATUSES } from '../orders/order-status.js';
import type { Outcome } from './payment-event.entity.js';
import type { TransactionEvent } from './transaction-event.js';

/** One try of a customer to pay, with its own id at the gateway. Keeps the fields of its events and adds the sums. */
export interface Transaction extends Omit<
  TransactionEvent,
  'gatewayRefunds' | 'manualRefund' | 'receivedAt'
> {
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
  /** Time at which the service learned that the payment was completed. Null in every other status. */
  readonly completedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Order in which a transaction moves forward. A captured card payment in review comes before an accepted one. */
const STEPS: readonly string[] = ['pending', 'authorize', 'review', 'capture', 'settlement'];

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
  const isSmallerSum = event.gatewayRefunds !== null && event.gatewayRefunds < current.gatewayRefunds;
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

function advance(
  current: Transaction | undefined,
  event: TransactionEvent,
  total: number,
  position: number,
): Transaction {
  const { transactionId, status, receivedAt } = event;
  const gatewayRefunds = Math.max(current?.gatewayRefunds ?? 0, event.gatewayRefunds ?? 0);
  const manualRefunds = (current?.manualRefunds ?? 0) + event.manualRefund;
  const refundedAmount = Math.min(gatewayRefunds + manualRefunds, total);
  const fraudStatus = event.fraudStatus ?? current?.fraudStatus ?? null;
  const isHeld = isReceived(status, fraudStatus) && refundedAmount < total;
  return {
    transactionId,
    attemptId: current?.attemptId ?? event.attemptId,
    paymentType: event.paymentType ?? current?.paymentType ?? null,
    status,
    fraudStatus,
    grossAmount: event.grossAmount ?? current?.grossAmount ?? null,
    gatewayRefunds,
    manualRefunds,
    refundedAmount,
    heldSincePosition: isHeld ? (current?.heldSincePosition ?? position) : null,
    lastChangePosition: position,
    startedAt: current?.startedAt ?? event.startedAt,
    completedAt: isCompleted(status) ? (current?.completedAt ?? receivedAt) : null,
    createdAt: current?.createdAt ?? receivedAt,
    updatedAt: receivedAt,
  };
}
