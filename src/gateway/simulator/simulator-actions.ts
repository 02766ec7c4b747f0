import { randomUUID } from 'node:crypto';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../payment-gateway.js';
import {
  isChosen,
  type NotificationKind,
  type SimulatorTransaction,
} from './simulator-transaction.entity.js';

/**
 * Ways to pay: the `payment_type` of notifications, and the fields that they have because of it.
 * @see https://docs.midtrans.com/docs/https-notification-webhooks for samples of each
 */
const METHODS = {
  credit_card: { masked_card: '48111111-1114', bank: 'bni', approval_code: '1578569243927' },
  gopay: {},
  qris: { transaction_type: 'on-us', issuer: 'gopay', acquirer: 'gopay' },
  bank_transfer: { va_numbers: [{ va_number: '812785002530231', bank: 'bca' }] },
  cstore: { store: 'indomaret', payment_code: '8127850025302310' },
};
type PaymentMethod = keyof typeof METHODS;

/** A button of the page: it changes the status (`to`), or sends a notification that changes nothing (`sends`). */
export interface Action {
  readonly label: string;
  /** Statuses that allow it. */
  readonly from: readonly SimulatorTransaction['transactionStatus'][];
  readonly to?: TransactionStatus;
  /** Where a method may be chosen, the action begins a payment with this one. */
  readonly method?: PaymentMethod;
  readonly sends?: Exclude<NotificationKind, 'status'>;
}

/** The customer may choose how to pay: at first, and again after a payment that failed. */
const NEW: Action['from'] = [null, 'deny', 'failure'];
const ANY = TRANSACTION_STATUSES;
const LATER = ANY.filter((status) => status !== 'pending');

/**
 * What one can do on the page, by the last part of the address that the form posts to. The statuses follow Midtrans'
 * transaction status cycle, with a refund also before settlement and without chargebacks.
 *
 * @see https://docs.midtrans.com/docs/transaction-status-cycle
 */
export const ACTIONS: ReadonlyMap<string, Action> = new Map(
  Object.entries<Action>({
    card: { label: 'Pay by card', from: NEW, to: 'capture', method: 'credit_card' },
    'card-authorize': { label: 'Reserve on a card', from: NEW, to: 'authorize', method: 'credit_card' },
    gopay: { label: 'Pay with GoPay', from: NEW, to: 'settlement', method: 'gopay' },
    qris: { label: 'Pay with QRIS', from: NEW, to: 'settlement', method: 'qris' },
    'bank-transfer': { label: 'Pay by bank transfer', from: NEW, to: 'pending', method: 'bank_transfer' },
    'convenience-store': { label: 'Pay at a convenience store', from: NEW, to: 'pending', method: 'cstore' },
    settle: { label: 'The money arrives', from: ['pending', 'capture'], to: 'settlement' },
    capture: { label: 'Capture the reserved amount', from: ['authorize'], to: 'capture' },
    refund: { label: 'Refund all of it', from: ['capture', 'settlement', 'partial_refund'], to: 'refund' },
    'partial-refund': { label: 'Refund half of it', from: ['capture', 'settlement'], to: 'partial_refund' },
    cancel: { label: 'Cancel the payment', from: ['pending', 'authorize', 'capture'], to: 'cancel' },
    expire: { label: 'Let the time run out', from: ['pending'], to: 'expire' },
    // A bank may also take a settled payment back.
    deny: {
      label: 'The bank refuses',
      from: [...NEW, 'pending', 'settlement'],
      to: 'deny',
      method: 'credit_card',
    },
    fail: { label: 'The payment breaks off', from: ['pending'], to: 'failure' },
    'send-again': { label: 'Send the last notification again', from: ANY, sends: 'again' },
    'send-late-pending': { label: 'Send a late pending', from: LATER, sends: 'late' },
    'send-bad-signature': { label: 'Send a bad signature', from: ANY, sends: 'bad-signature' },
  }),
);

/** A payment that was cancelled or expired before a method was chosen allows nothing. */
export function isAllowed({ from }: Action, transaction: SimulatorTransaction): boolean {
  const { transactionStatus } = transaction;
  return from.includes(transactionStatus) && (transactionStatus === null || isChosen(transaction));
}

/** What a transaction gets from an action that begins a payment; nothing from any other. */
export function paymentBegun(
  { method }: Action,
  { transactionStatus }: SimulatorTransaction,
): Partial<SimulatorTransaction> {
  if (method === undefined || !NEW.includes(transactionStatus)) return {};
  return {
    transactionId: randomUUID(),
    transactionTime: new Date(),
    settlementTime: null,
    paymentType: method,
    paymentDetails: METHODS[method],
    fraudStatus: method === 'cstore' ? null : 'accept', // convenience stores are not screened for fraud
  };
}
