import { randomUUID } from 'node:crypto';
import { formatGatewayTime } from '../midtrans.messages.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../payment-gateway.js';
import type { PageTexts } from './page-texts.js';
import {
  type NotificationDefect,
  readRefundedAmount,
  type SimulatedTransaction,
  type SimulatorPage,
} from './simulator-page.entity.js';

export type ActionName = keyof PageTexts['actions'];

interface Action {
  readonly from?: readonly TransactionStatus[];
  /** New status. If unset, the action does not change the status and only sends a notification. */
  readonly to?: TransactionStatus;
  /** Payment method of the new transaction that the action starts if the page is open. */
  readonly method?: string;
  readonly notificationDefect?: NotificationDefect;
}

const ANY = TRANSACTION_STATUSES;
const NOT_PENDING = ANY.filter((status) => status !== 'pending');

/**
 * Actions by the last segment of the path that their form posts to. They follow the status cycle of Midtrans, except that
 * a captured payment can be refunded and that there are no chargebacks.
 * @see https://docs.midtrans.com/docs/transaction-status-cycle
 */
export const ACTIONS: Readonly<Record<ActionName, Action>> = {
  card: { to: 'capture', method: 'credit_card' },
  'card-authorize': { to: 'authorize', method: 'credit_card' },
  gopay: { to: 'settlement', method: 'gopay' },
  qris: { to: 'settlement', method: 'qris' },
  'bank-transfer': { to: 'pending', method: 'bank_transfer' },
  'convenience-store': { to: 'pending', method: 'cstore' },
  settle: { from: ['pending', 'capture'], to: 'settlement' },
  capture: { from: ['authorize'], to: 'capture' },
  refund: { from: ['capture', 'settlement', 'partial_refund'], to: 'refund' },
  'partial-refund': { from: ['capture', 'settlement'], to: 'partial_refund' },
  cancel: { from: ['pending', 'authorize', 'capture'], to: 'cancel' },
  expire: { from: ['pending'], to: 'expire' },
  // A bank can deny a payment when it starts, while it is pending, and even after its settlement.
  deny: { from: ['pending', 'settlement'], to: 'deny', method: 'credit_card' },
  fail: { from: ['pending'], to: 'failure' },
  'send-again': { from: ANY },
  'send-late-pending': { from: NOT_PENDING, notificationDefect: 'late' },
  'send-bad-signature': { from: ANY, notificationDefect: 'bad-signature' },
};

export function isActionName(name: string): name is ActionName {
  return Object.hasOwn(ACTIONS, name);
}

/**
 * Lists the possible actions. With an id: those of that transaction. Without: those of the latest transaction, and those that
 * start a new one.
 */
export function listActions(page: SimulatorPage, transactionId?: string): ActionName[] {
  const names = Object.keys(ACTIONS).filter(isActionName);
  return names.filter((name) => computeChange(page, name, transactionId) !== null);
}

/**
 * Changes a transaction, by default the latest one, if its status is in `from`. Otherwise starts one, if the action has a
 * `method` and the page is open.
 * @returns the changed or new transaction, which is not stored yet; null if the page does not allow the action
 */
export function computeChange(
  page: SimulatorPage,
  name: ActionName,
  transactionId?: string,
): SimulatedTransaction | null {
  const { from, to, method } = ACTIONS[name];
  const transaction = page.findTransaction(transactionId);
  if (transaction !== undefined && from?.includes(transaction.transaction_status) === true) {
    if (to !== 'refund' && to !== 'partial_refund') return changeStatus(transaction, to);
    const total = page.grossAmount;
    const amount = to === 'refund' ? total - readRefundedAmount(transaction) : Math.ceil(total / 2);
    return page.withRefund(transaction, { refundKey: randomUUID(), amount, reason: null });
  }
  const canStart = transactionId === undefined && page.isOpen;
  return canStart && method !== undefined ? changeStatus(createTransaction(method), to) : null;
}

function createTransaction(method: string): SimulatedTransaction {
  return {
    transaction_id: randomUUID(),
    transaction_time: formatGatewayTime(new Date()),
    transaction_status: 'pending',
    payment_type: method,
    ...(method !== 'cstore' && { fraud_status: 'accept' }),
  };
}

/** A denial also changes the fraud status, if the transaction has one. */
function changeStatus(transaction: SimulatedTransaction, to = transaction.transaction_status) {
  const changed = { ...transaction, transaction_status: to };
  return to === 'deny' && changed.fraud_status !== undefined ? { ...changed, fraud_status: 'deny' } : changed;
}
