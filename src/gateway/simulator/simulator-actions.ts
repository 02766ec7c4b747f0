import {
  isChosen,
  type NotificationKind,
  type SimulatorTransaction,
  TRANSACTION_STATUSES,
  type TransactionStatus,
} from './simulator-transaction.entity.js';

/** A way to pay, with what the gateway's notifications hold because of it. */
interface PaymentMethod {
  readonly paymentType: string;
  /** Null where notifications lack the field: convenience stores are not screened for fraud. */
  readonly fraudStatus: 'accept' | null;
  /** In the gateway's names. */
  readonly paymentDetails: Readonly<Record<string, unknown>>;
}

export interface Action {
  /** Heading on the page. */
  readonly group: string;
  readonly label: string;
  /** What to expect. */
  readonly hint: string;
  /** States of the payment that allow it; `new`: a payment method may be chosen. */
  readonly from: readonly (TransactionStatus | 'new')[];
  /** The status that the payment gets. */
  readonly to?: TransactionStatus | undefined;
  /** Where a method may be chosen, the action begins a payment with this one. */
  readonly method?: PaymentMethod | undefined;
  /** A notification that changes nothing at the gateway. */
  readonly sends?: Exclude<NotificationKind, 'status'> | undefined;
}

/** @see https://docs.midtrans.com/docs/https-notification-webhooks for samples of each */
const CARD: PaymentMethod = {
  paymentType: 'credit_card',
  fraudStatus: 'accept',
  paymentDetails: { masked_card: '48111111-1114', bank: 'bni', approval_code: '1578569243927' },
};
const GOPAY: PaymentMethod = { paymentType: 'gopay', fraudStatus: 'accept', paymentDetails: {} };
const QRIS: PaymentMethod = {
  paymentType: 'qris',
  fraudStatus: 'accept',
  paymentDetails: { transaction_type: 'on-us', issuer: 'gopay', acquirer: 'gopay' },
};
const BANK: PaymentMethod = {
  paymentType: 'bank_transfer',
  fraudStatus: 'accept',
  paymentDetails: { va_numbers: [{ va_number: '812785002530231', bank: 'bca' }] },
};
const STORE: PaymentMethod = {
  paymentType: 'cstore',
  fraudStatus: null,
  paymentDetails: { store: 'indomaret', payment_code: '8127850025302310' },
};

type From = Action['from'];

const PAYMENTS: readonly [name: string, label: string, to: TransactionStatus, method: PaymentMethod][] = [
  ['card', 'Pay by card', 'capture', CARD],
  ['card-authorize', 'Reserve on a card', 'authorize', CARD],
  ['gopay', 'Pay with GoPay', 'settlement', GOPAY],
  ['qris', 'Pay with QRIS', 'settlement', QRIS],
  ['bank-transfer', 'Pay by bank transfer', 'pending', BANK],
  ['convenience-store', 'Pay at a convenience store, which sends no fraud_status', 'pending', STORE],
];

/**
 * After Midtrans' transaction status cycle, with a refund also before settlement and without chargebacks.
 *
 * @see https://docs.midtrans.com/docs/transaction-status-cycle
 */
const CHANGES: readonly [name: string, label: string, from: From, to: TransactionStatus, PaymentMethod?][] = [
  ['settle', 'The money arrives', ['pending', 'capture'], 'settlement'],
  ['capture', 'Capture the reserved amount', ['authorize'], 'capture'],
  ['refund', 'Refund all of it', ['capture', 'settlement', 'partial_refund'], 'refund'],
  ['partial-refund', 'Refund half of it', ['capture', 'settlement'], 'partial_refund'],
  ['cancel', 'Cancel the payment', ['pending', 'authorize', 'capture'], 'cancel'],
  ['expire', 'Let the time run out', ['pending'], 'expire'],
  // A bank may also take a settled payment back.
  ['deny', 'The bank refuses', ['new', 'pending', 'settlement'], 'deny', CARD],
  ['fail', 'The payment breaks off', ['pending'], 'failure'],
];

const ANY = TRANSACTION_STATUSES;
const LATER = ANY.filter((status) => status !== 'pending');
const NOTIFICATIONS: readonly [name: string, label: string, hint: string, From, Action['sends']][] = [
  ['send-again', 'Send the last one again', 'A duplicate: nothing should change', ANY, 'again'],
  ['send-late-pending', 'Send a late pending', 'Overtaken: nothing should change', LATER, 'late'],
  ['send-bad-signature', 'Send a bad signature', 'Should be refused with 403', ANY, 'bad-signature'],
];

/** What one can do on the page, by the last part of the address that the form posts to. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ...PAYMENTS.map(([name, label, to, method]) =>
    entry(name, { group: 'The customer pays', label, hint: `Becomes: ${to}`, from: ['new'], to, method }),
  ),
  ...CHANGES.map(([name, label, from, to, method]) =>
    entry(name, { group: 'What becomes of the payment', label, hint: `Becomes: ${to}`, from, to, method }),
  ),
  ...NOTIFICATIONS.map(([name, label, hint, from, sends]) =>
    entry(name, { group: 'Notifications that go astray', label, hint, from, sends }),
  ),
]);

function entry(name: string, action: Action): [string, Action] {
  return [name, action];
}

/** Whether the page lets the customer choose a method: at first, and again after a payment that failed. */
export function mayBegin({ transactionStatus: status, expiresAt }: SimulatorTransaction): boolean {
  return (status === null || status === 'deny' || status === 'failure') && Date.now() < expiresAt.getTime();
}

export function isAllowed({ from }: Action, transaction: SimulatorTransaction): boolean {
  if (from.includes('new') && mayBegin(transaction)) return true;
  return isChosen(transaction) && from.includes(transaction.transactionStatus);
}
