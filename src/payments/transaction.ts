import { isUUID } from 'class-validator';
import { parseGatewayTime, parseJsonObject, parseText } from '../gateway/midtrans.messages.js';
import type { TransactionStatus } from '../gateway/payment-gateway.js';
import {
  FAILED_STATUSES,
  isCompleted,
  isDeniedAsFraud,
  isMoneyReceived,
  REFUND_STATUSES,
} from '../orders/order-status.js';
import type { Outcome, PaymentEvent } from './payment-event.entity.js';

/**
 * Payment event about a transaction. The other events are rejected ones, and those with which the service itself ends the
 * order.
 */
export type TransactionEvent = PaymentEvent & { transactionId: string; status: TransactionStatus };

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
  /** True if the shop has received money with the transaction and has not returned all of it. */
  readonly holdsMoney: boolean;
  /** Position in the history of the event with which the transaction began to hold money. Null if it holds no money. */
  readonly heldFrom: number | null;
  /** Position in the history of the event with which the refunds reached the total. Null before. */
  readonly returnedAt: number | null;
  /** Time in milliseconds at which the customer chose the payment method, as the gateway states it. */
  readonly startedAtMs: number | null;
  /** Time at which the service learned of the `settlement` or `capture`. Null in every other status, also after a refund. */
  readonly completedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Outcome of an event that the history does not reject and that needs no confirmation. */
export type TransactionOutcome = Extract<Outcome, 'applied' | 'duplicate' | 'late'>;

/** Status of a transaction, with `doubtful` for a `capture` that is in review or denied as fraud. */
type State = TransactionStatus | 'doubtful';

/** States of a transaction that has brought money, even if the shop has returned the money. */
const MONEY_STATES: readonly State[] = ['capture', 'settlement', ...REFUND_STATUSES];

/** States that can follow each state. A state that lists itself can get another fraud status. */
const NEXT_STATES: Readonly<Record<State, readonly State[]>> = {
  pending: ['pending', 'authorize', 'doubtful', ...MONEY_STATES, ...FAILED_STATUSES],
  authorize: ['authorize', 'doubtful', ...MONEY_STATES, ...FAILED_STATUSES],
  doubtful: ['doubtful', ...MONEY_STATES, ...FAILED_STATUSES],
  capture: [...MONEY_STATES, ...FAILED_STATUSES],
  settlement: ['settlement', ...REFUND_STATUSES, ...FAILED_STATUSES],
  deny: MONEY_STATES,
  cancel: MONEY_STATES,
  expire: MONEY_STATES,
  failure: MONEY_STATES,
  // Only further refunds: `decideFurtherRefund` decides about them.
  partial_refund: [],
  refund: [],
};

export function isTransactionEvent(event: PaymentEvent): event is TransactionEvent {
  return event.transactionId !== null && event.status !== null;
}

/** Returns true if a transaction is pending or authorized, or captured but in review or denied as fraud. */
export function isOpenTransaction(transaction: Transaction): boolean {
  return ['pending', 'authorize', 'doubtful'].includes(toState(transaction));
}

/** Returns true if the customer's payment can still succeed. */
export function canSucceed(transaction: Transaction): boolean {
  return isOpenTransaction(transaction) && !isDeniedAsFraud(transaction.status, transaction.fraudStatus);
}

function hasRefund({ status }: Pick<Transaction, 'status'>): boolean {
  return REFUND_STATUSES.includes(status);
}

function toState({ status, fraudStatus }: Transaction): State {
  return status === 'capture' && !isMoneyReceived(status, fraudStatus) ? 'doubtful' : status;
}

/**
 * Computes the transaction to which an event leads if the event is applied. A field that the event does not contain keeps its
 * value.
 * @param total total of the order in whole rupiah
 * @param position number of earlier events in the history
 */
export function computeNext(
  current: Transaction | undefined,
  event: TransactionEvent,
  { total, position }: { readonly total: number; readonly position: number },
): Transaction {
  const { transactionId, status, source, receivedAt } = event;
  const payload = parseJsonObject(event.payload) ?? {};
  const isManual = source === 'refund' && payload.manual === true;
  const knownRefunds = current?.gatewayRefunds ?? 0;
  const reportedRefunds = readGatewayRefunds(event, total) ?? knownRefunds;
  // Refunds only grow. `decideOutcome` ignores a partial refund with a smaller sum. A full refund counts the larger sum.
  const gatewayRefunds = status === 'refund' ? Math.max(reportedRefunds, knownRefunds) : reportedRefunds;
  const manualRefunds = (current?.manualRefunds ?? 0) + (isManual ? Number(payload.amount) : 0);
  const refundedAmount = Math.min(gatewayRefunds + manualRefunds, total);
  const fraudStatus = event.fraudStatus ?? current?.fraudStatus ?? null;
  const holdsMoney = isMoneyReceived(status, fraudStatus) && refundedAmount < total;
  return {
    transactionId,
    // Version 1.2 does not store the attempt of an event.
    attemptId: current?.attemptId ?? event.attemptId ?? parseAttemptId(payload.order_id),
    paymentType: parseText(payload.payment_type) ?? current?.paymentType ?? null,
    status,
    fraudStatus,
    grossAmount: event.grossAmount ?? current?.grossAmount ?? null,
    gatewayRefunds,
    manualRefunds,
    refundedAmount,
    holdsMoney,
    heldFrom: holdsMoney ? (current?.heldFrom ?? position) : null,
    returnedAt: hasRefund(event) && !holdsMoney ? (current?.returnedAt ?? position) : null,
    startedAtMs: current?.startedAtMs ?? parseGatewayTime(payload.transaction_time),
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

/**
 * Returns `applied` if a transaction may become `next`, `duplicate` if the transaction is like `next` already, and `late` if
 * the transaction would go back (docs/decisions/08).
 */
export function decideOutcome(current: Transaction | undefined, next: Transaction): TransactionOutcome {
  if (current === undefined) return 'applied';
  if (hasRefund(current) && hasRefund(next)) return decideFurtherRefund(current, next);
  if (next.status === current.status && next.fraudStatus === current.fraudStatus) return 'duplicate';
  return NEXT_STATES[toState(current)].includes(toState(next)) ? 'applied' : 'late';
}

function decideFurtherRefund(current: Transaction, next: Transaction) {
  if (next.status === 'partial_refund' && next.gatewayRefunds < current.gatewayRefunds) return 'late';
  const isWhole = next.status === 'refund' && current.status === 'partial_refund';
  return isWhole || next.refundedAmount > current.refundedAmount ? 'applied' : 'duplicate';
}
