import { randomUUID } from 'node:crypto';
import { gatewayTime } from '../midtrans.messages.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../payment-gateway.js';
import type { SimulatorTransaction } from './simulator-transaction.entity.js';

/** A button of the page. Each has the shop notified. */
export interface Action {
  readonly label: string;
  /** Statuses that allow it. */
  readonly from: readonly (TransactionStatus | null)[];
  /** The new status; without one nothing changes. */
  readonly to?: TransactionStatus;
  /** Where a method may be chosen, the action begins a payment with this one. */
  readonly method?: string;
  /** What is wrong with the notification. */
  readonly sends?: 'late' | 'bad-signature';
}

/** The customer may choose how to pay: at first, and again after a payment that failed. */
const NEW: Action['from'] = [null, 'deny', 'failure'];
/** A bank may also take a settled payment back. */
const DENIABLE: Action['from'] = [...NEW, 'pending', 'settlement'];
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
    deny: { label: 'The bank refuses', from: DENIABLE, to: 'deny', method: 'credit_card' },
    fail: { label: 'The payment breaks off', from: ['pending'], to: 'failure' },
    'send-again': { label: 'Send the last notification again', from: ANY },
    'send-late-pending': { label: 'Send a late pending', from: LATER, sends: 'late' },
    'send-bad-signature': { label: 'Send a bad signature', from: ANY, sends: 'bad-signature' },
  }),
);

/** A page that ended before a method was chosen allows nothing. */
export function isAllowed({ from, method }: Action, { status, payment }: SimulatorTransaction): boolean {
  return from.includes(status) && (method !== undefined || payment !== null);
}

/** Makes of a transaction what an action says. */
export function carryOut({ to, method }: Action, transaction: SimulatorTransaction): void {
  if (method !== undefined && NEW.includes(transaction.status))
    transaction.payment = {
      transaction_id: randomUUID(),
      transaction_time: gatewayTime(new Date()),
      payment_type: method,
      ...(method !== 'cstore' && { fraud_status: 'accept' }),
    };
  if (to === 'deny' && transaction.payment?.fraud_status !== undefined)
    transaction.payment = { ...transaction.payment, fraud_status: 'deny' };
  transaction.status = to ?? transaction.status;
}
