import { randomUUID } from 'node:crypto';
import { formatGatewayTime } from '../midtrans.messages.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../payment-gateway.js';
import type { NotificationDefect, SimulatorTransaction } from './simulator-transaction.entity.js';

/** A button of the payment page. Every action sends a notification to the shop. */
interface Action {
  readonly label: string;
  /** Statuses that allow the action. */
  readonly from: readonly (TransactionStatus | null)[];
  /** New status. If unset, the action does not change the status. */
  readonly to?: TransactionStatus;
  /** Payment method to use if this action starts the payment. */
  readonly method?: string;
  readonly notificationDefect?: NotificationDefect;
}

/** Statuses in which a customer can choose a payment method: at first, and again after a denied or failed payment. */
const OPEN: Action['from'] = [null, 'deny', 'failure'];
/** Statuses in which a bank can deny a payment: when it starts, while it is pending, and even after its settlement. */
const DENIABLE: Action['from'] = [...OPEN, 'pending', 'settlement'];
const ANY = TRANSACTION_STATUSES;
const NOT_PENDING = ANY.filter((status) => status !== 'pending');

/**
 * Actions by the last segment of the path that their form posts to. They follow the status cycle of Midtrans, except that
 * a captured payment can be refunded and that there are no chargebacks.
 * @see https://docs.midtrans.com/docs/transaction-status-cycle
 */
export const ACTIONS: ReadonlyMap<string, Action> = new Map(
  Object.entries<Action>({
    card: { label: 'Pay by card', from: OPEN, to: 'capture', method: 'credit_card' },
    'card-authorize': { label: 'Reserve on a card', from: OPEN, to: 'authorize', method: 'credit_card' },
    gopay: { label: 'Pay with GoPay', from: OPEN, to: 'settlement', method: 'gopay' },
    qris: { label: 'Pay with QRIS', from: OPEN, to: 'settlement', method: 'qris' },
    'bank-transfer': { label: 'Pay by bank transfer', from: OPEN, to: 'pending', method: 'bank_transfer' },
    'convenience-store': { label: 'Pay at a convenience store', from: OPEN, to: 'pending', method: 'cstore' },
    settle: { label: 'Settle the payment', from: ['pending', 'capture'], to: 'settlement' },
    capture: { label: 'Capture the reserved amount', from: ['authorize'], to: 'capture' },
    refund: { label: 'Refund everything', from: ['capture', 'settlement', 'partial_refund'], to: 'refund' },
    'partial-refund': { label: 'Refund half', from: ['capture', 'settlement'], to: 'partial_refund' },
    cancel: { label: 'Cancel the payment', from: ['pending', 'authorize', 'capture'], to: 'cancel' },
    expire: { label: 'Let the payment expire', from: ['pending'], to: 'expire' },
    deny: { label: 'Deny the payment', from: DENIABLE, to: 'deny', method: 'credit_card' },
    fail: { label: 'Let the payment fail', from: ['pending'], to: 'failure' },
    'send-again': { label: 'Send the last notification again', from: ANY },
    'send-late-pending': { label: 'Send a late pending', from: NOT_PENDING, notificationDefect: 'late' },
    'send-bad-signature': { label: 'Send a bad signature', from: ANY, notificationDefect: 'bad-signature' },
  }),
);

export function isAllowed({ from, method }: Action, { status, payment }: SimulatorTransaction): boolean {
  // `PaymentGateway.cancelOrExpire` can end a page before a payment method is chosen. Such a page allows no action.
  return from.includes(status) && (method !== undefined || payment !== null);
}

/** @returns false, with nothing changed, if the status does not allow the action */
export function performAction(action: Action, transaction: SimulatorTransaction): boolean {
  if (!isAllowed(action, transaction)) return false;
  const { to, method } = action;
  if (method !== undefined && OPEN.includes(transaction.status))
    transaction.payment = {
      transaction_id: randomUUID(),
      transaction_time: formatGatewayTime(new Date()),
      payment_type: method,
      ...(method !== 'cstore' && { fraud_status: 'accept' }),
    };
  if (to === 'deny' && transaction.payment?.fraud_status !== undefined)
    transaction.payment = { ...transaction.payment, fraud_status: 'deny' };
  if (to === 'refund' || to === 'partial_refund') {
    const { grossAmount, refundedAmount } = transaction;
    const amount = to === 'refund' ? grossAmount - refundedAmount : Math.ceil(grossAmount / 2);
    transaction.addRefund({ refundKey: randomUUID(), amount, reason: null });
  } else transaction.status = to ?? transaction.status;
  return true;
}
