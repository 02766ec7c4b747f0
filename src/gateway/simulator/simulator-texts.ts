import type { NotificationKind } from './simulator-notification.entity.js';
import type { SimulatorTransaction } from './simulator-transaction.entity.js';
import { mayStartPayment, type TransactionStatus } from './transitions.js';

/** How the page shows where a payment stands. */
export interface StateText {
  readonly tone: 'fresh' | 'pending' | 'paid' | 'ended';
  readonly title: string;
  readonly text: string;
  /** The gateway's word for it; empty while it knows of no payment. */
  readonly status: string;
}

const STATES: Readonly<Record<TransactionStatus, Omit<StateText, 'status'>>> = {
  pending: { tone: 'pending', title: 'Waiting for the money', text: 'The customer was told how to pay.' },
  authorize: {
    tone: 'pending',
    title: 'Reserved',
    text: 'The amount is reserved on the card, not yet taken.',
  },
  capture: { tone: 'paid', title: 'Paid', text: 'The card was charged; the bank settles later.' },
  settlement: { tone: 'paid', title: 'Paid', text: 'The money has arrived.' },
  deny: { tone: 'ended', title: 'Denied', text: 'The payment was refused.' },
  failure: { tone: 'ended', title: 'Failed', text: 'The payment broke off.' },
  cancel: { tone: 'ended', title: 'Cancelled', text: 'No money will come.' },
  expire: { tone: 'ended', title: 'Expired', text: 'The customer did not pay in time.' },
  refund: { tone: 'ended', title: 'Refunded', text: 'The customer has all of the money back.' },
  partial_refund: {
    tone: 'ended',
    title: 'Partly refunded',
    text: 'The customer has half of the money back.',
  },
};
const FRESH: StateText = {
  tone: 'fresh',
  title: 'Not paid yet',
  text: 'Choose what the customer does. The gateway knows of no payment before that.',
  status: '',
};
const TOO_LATE: StateText = {
  tone: 'ended',
  title: 'Expired',
  text: 'Nobody chose how to pay within 24 hours; the gateway knows of no payment and sends nothing.',
  status: '',
};

export function stateOf(transaction: SimulatorTransaction, now: Date): StateText {
  const { transactionStatus: status } = transaction;
  const canPay = mayStartPayment(transaction, now);
  if (status === null) return canPay ? FRESH : TOO_LATE;
  const { tone, title, text } = STATES[status];
  return { tone, title, text: canPay ? `${text} The customer may try again.` : text, status };
}

/** What the page says of a notification besides its status. */
export const NOTIFICATION_KINDS: Readonly<Record<NotificationKind, string>> = {
  status: '',
  again: 'sent again',
  late: 'sent late',
  'bad-signature': 'with a bad signature',
};
