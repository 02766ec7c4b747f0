import { PAYMENT_METHODS, type PaymentMethod } from './payment-methods.js';
import type { NotificationKind } from './simulator-notification.entity.js';
import { isChosen, type SimulatorTransaction } from './simulator-transaction.entity.js';
import { mayBecome, mayStartPayment, type TransactionStatus } from './transitions.js';

/** Makes a payment, or changes one. */
export interface StateAction {
  readonly to: TransactionStatus;
  /** Where a method may be chosen, the action begins a payment with this one. */
  readonly begins?: PaymentMethod;
  /** Whether the action may follow upon a payment's present state. */
  readonly follows?: boolean;
}

/** Sends a notification that changes nothing at the gateway. */
export interface SendAction {
  readonly sends: Exclude<NotificationKind, 'status'>;
}

export type ActionGroup = 'pay' | 'payment' | 'notifications';

export type Action = (StateAction | SendAction) & {
  readonly group: ActionGroup;
  readonly label: string;
  readonly hint: string;
};

/** What one can do on the page, by the last part of the address that the form posts to. */
export const ACTIONS = {
  card: {
    group: 'pay',
    label: 'Pay by card',
    hint: 'Succeeds at once: capture',
    to: 'capture',
    begins: PAYMENT_METHODS.card,
  },
  'card-authorize': {
    group: 'pay',
    label: 'Reserve on a card',
    hint: 'To be captured later: authorize',
    to: 'authorize',
    begins: PAYMENT_METHODS.card,
  },
  gopay: {
    group: 'pay',
    label: 'Pay with GoPay',
    hint: 'Succeeds at once: settlement',
    to: 'settlement',
    begins: PAYMENT_METHODS.gopay,
  },
  qris: {
    group: 'pay',
    label: 'Pay with QRIS',
    hint: 'Succeeds at once: settlement',
    to: 'settlement',
    begins: PAYMENT_METHODS.qris,
  },
  'bank-transfer': {
    group: 'pay',
    label: 'Pay by bank transfer',
    hint: 'Money comes later: pending',
    to: 'pending',
    begins: PAYMENT_METHODS.bankTransfer,
  },
  'convenience-store': {
    group: 'pay',
    label: 'Pay at a convenience store',
    hint: 'Pending, and no fraud_status',
    to: 'pending',
    begins: PAYMENT_METHODS.convenienceStore,
  },
  settle: {
    group: 'payment',
    label: 'The money arrives',
    hint: 'Becomes: settlement',
    to: 'settlement',
    follows: true,
  },
  capture: {
    group: 'payment',
    label: 'Capture the reserved amount',
    hint: 'Becomes: capture',
    to: 'capture',
    follows: true,
  },
  refund: {
    group: 'payment',
    label: 'Refund all of it',
    hint: 'Becomes: refund',
    to: 'refund',
    follows: true,
  },
  'partial-refund': {
    group: 'payment',
    label: 'Refund half of it',
    hint: 'Becomes: partial_refund',
    to: 'partial_refund',
    follows: true,
  },
  cancel: {
    group: 'payment',
    label: 'Cancel the payment',
    hint: 'Becomes: cancel',
    to: 'cancel',
    follows: true,
  },
  expire: {
    group: 'payment',
    label: 'Let the time run out',
    hint: 'Becomes: expire',
    to: 'expire',
    follows: true,
  },
  deny: {
    group: 'payment',
    label: 'The bank refuses',
    hint: 'Becomes: deny',
    to: 'deny',
    begins: PAYMENT_METHODS.card,
    follows: true,
  },
  fail: {
    group: 'payment',
    label: 'The payment breaks off',
    hint: 'Becomes: failure',
    to: 'failure',
    follows: true,
  },
  'send-again': {
    group: 'notifications',
    label: 'Send the last one again',
    hint: 'A duplicate: nothing should change',
    sends: 'again',
  },
  'send-late-pending': {
    group: 'notifications',
    label: 'Send a late pending',
    hint: 'Overtaken: nothing should change',
    sends: 'late',
  },
  'send-bad-signature': {
    group: 'notifications',
    label: 'Send a bad signature',
    hint: 'Forged: should be refused with 403',
    sends: 'bad-signature',
  },
} as const satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;

export function isActionName(name: string): name is ActionName {
  return Object.hasOwn(ACTIONS, name);
}

/** Names of the actions that a transaction's state allows. */
export function allowedActions(transaction: SimulatorTransaction, now: Date): ActionName[] {
  return Object.keys(ACTIONS)
    .filter(isActionName)
    .filter((name) => isAllowed(ACTIONS[name], transaction, now));
}

export function isAllowed(action: Action, transaction: SimulatorTransaction, now: Date): boolean {
  const { transactionStatus: status } = transaction;
  if (status !== null && !isChosen(transaction)) return false;
  if ('sends' in action) return status !== null && !(action.sends === 'late' && status === 'pending');
  return (
    (action.begins !== undefined && mayStartPayment(transaction, now)) ||
    (action.follows === true && status !== null && mayBecome(status, action.to))
  );
}
