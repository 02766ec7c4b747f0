import { randomInt } from 'node:crypto';
import {
  isChosen,
  type NotificationKind,
  type SimulatorTransaction,
  type TransactionStatus,
} from './simulator-transaction.entity.js';

/**
 * What may become of a payment. After Midtrans' transaction status cycle, with a refund also before settlement and
 * without chargebacks, which no documented status of the service stands for.
 *
 * @see https://docs.midtrans.com/docs/transaction-status-cycle
 */
const TRANSITIONS: Readonly<Record<TransactionStatus, readonly TransactionStatus[]>> = {
  pending: ['settlement', 'deny', 'cancel', 'expire', 'failure'],
  authorize: ['capture', 'cancel'],
  capture: ['settlement', 'cancel', 'refund', 'partial_refund'],
  // A bank may take a settled payment back.
  settlement: ['refund', 'partial_refund', 'deny'],
  partial_refund: ['refund'],
  refund: [],
  deny: [],
  cancel: [],
  expire: [],
  failure: [],
};

/** A way to pay, with what the gateway's notifications hold because of it. */
export interface PaymentMethod {
  readonly paymentType: string;
  /** Convenience stores are not screened for fraud; their notifications lack the field. */
  readonly hasFraudStatus: boolean;
  /** In the gateway's names; made once for a payment. */
  readonly details: () => Readonly<Record<string, unknown>>;
}

/** @see https://docs.midtrans.com/docs/https-notification-webhooks for samples of each */
const METHODS = {
  card: method('credit_card', () => ({
    masked_card: '48111111-1114',
    bank: 'bni',
    approval_code: digits(13),
  })),
  gopay: method('gopay', () => ({})),
  qris: method('qris', () => ({ transaction_type: 'on-us', issuer: 'gopay', acquirer: 'gopay' })),
  bank: method('bank_transfer', () => ({ va_numbers: [{ va_number: digits(15), bank: 'bca' }] })),
  store: method('cstore', () => ({ store: 'indomaret', payment_code: digits(16) }), false),
};

export type ActionGroup = 'pay' | 'payment' | 'notifications';

export interface Action {
  readonly group: ActionGroup;
  readonly label: string;
  readonly hint: string;
  /** The status that the payment gets. */
  readonly to?: TransactionStatus;
  /** Where a method may be chosen, the action begins a payment with this one. */
  readonly begins?: PaymentMethod;
  /** A notification that changes nothing at the gateway. */
  readonly sends?: Exclude<NotificationKind, 'status'>;
}

/** What one can do on the page, by the last part of the address that the form posts to. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['card', pay('Pay by card', 'Succeeds at once: capture', 'capture', METHODS.card)],
  ['card-authorize', pay('Reserve on a card', 'To be captured later: authorize', 'authorize', METHODS.card)],
  ['gopay', pay('Pay with GoPay', 'Succeeds at once: settlement', 'settlement', METHODS.gopay)],
  ['qris', pay('Pay with QRIS', 'Succeeds at once: settlement', 'settlement', METHODS.qris)],
  ['bank-transfer', pay('Pay by bank transfer', 'Money comes later: pending', 'pending', METHODS.bank)],
  [
    'convenience-store',
    pay('Pay at a convenience store', 'Pending, and no fraud_status', 'pending', METHODS.store),
  ],
  ['settle', change('The money arrives', 'settlement')],
  ['capture', change('Capture the reserved amount', 'capture')],
  ['refund', change('Refund all of it', 'refund')],
  ['partial-refund', change('Refund half of it', 'partial_refund')],
  ['cancel', change('Cancel the payment', 'cancel')],
  ['expire', change('Let the time run out', 'expire')],
  ['deny', { ...change('The bank refuses', 'deny'), begins: METHODS.card }],
  ['fail', change('The payment breaks off', 'failure')],
  ['send-again', send('Send the last one again', 'A duplicate: nothing should change', 'again')],
  ['send-late-pending', send('Send a late pending', 'Overtaken: nothing should change', 'late')],
  ['send-bad-signature', send('Send a bad signature', 'Forged: should be refused with 403', 'bad-signature')],
]);

/** Whether the page lets the customer choose a method: at first, and again after a payment that failed. */
export function mayBegin({ transactionStatus: status, expiresAt }: SimulatorTransaction): boolean {
  return (status === null || status === 'deny' || status === 'failure') && Date.now() < expiresAt.getTime();
}

export function mayBecome(status: TransactionStatus, next: TransactionStatus): boolean {
  return TRANSITIONS[status].includes(next);
}

export function isAllowed({ group, to, begins, sends }: Action, transaction: SimulatorTransaction): boolean {
  const { transactionStatus: status } = transaction;
  if (begins !== undefined && mayBegin(transaction)) return true;
  if (!isChosen(transaction) || status === null) return false;
  if (sends !== undefined) return sends !== 'late' || status !== 'pending';
  return group === 'payment' && to !== undefined && mayBecome(status, to);
}

function method(
  paymentType: string,
  details: PaymentMethod['details'],
  hasFraudStatus = true,
): PaymentMethod {
  return { paymentType, details, hasFraudStatus };
}

function pay(label: string, hint: string, to: TransactionStatus, begins: PaymentMethod): Action {
  return { group: 'pay', label, hint, to, begins };
}

function change(label: string, to: TransactionStatus): Action {
  return { group: 'payment', label, hint: `Becomes: ${to}`, to };
}

function send(label: string, hint: string, sends: NonNullable<Action['sends']>): Action {
  return { group: 'notifications', label, hint, sends };
}

function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('');
}
