import type { OrderStatus } from '../api.js';
import { h } from '../dom.js';
import type { IconName } from './icons.js';

type Tone = 'waiting' | 'good' | 'bad' | 'plain';

interface StatusText {
  readonly label: string;
  readonly text: string;
  readonly tone: Tone;
  readonly icon: IconName;
}

const PAID = { label: 'Paid', text: 'Thank you! We start baking.', tone: 'good', icon: 'check' } as const;

export const STATUS: Readonly<Record<OrderStatus, StatusText>> = {
  pending: {
    label: 'Waiting for payment',
    text: 'Pay on the payment page; this page will know as soon as you have.',
    tone: 'waiting',
    icon: 'clock',
  },
  authorize: {
    label: 'Authorised',
    text: 'Your bank has agreed; the payment will be collected.',
    tone: 'waiting',
    icon: 'clock',
  },
  capture: PAID,
  settlement: PAID,
  deny: {
    label: 'Payment denied',
    text: 'The payment was refused. Nothing was charged.',
    tone: 'bad',
    icon: 'cross',
  },
  failure: { label: 'Payment failed', text: 'The payment did not go through.', tone: 'bad', icon: 'cross' },
  expire: {
    label: 'Expired',
    text: 'The time to pay is over. Please order again.',
    tone: 'bad',
    icon: 'cross',
  },
  cancel: { label: 'Cancelled', text: 'This order was cancelled.', tone: 'plain', icon: 'cross' },
  refund: { label: 'Refunded', text: 'Your money is on its way back.', tone: 'plain', icon: 'check' },
  partial_refund: {
    label: 'Partly refunded',
    text: 'A part of your money is on its way back.',
    tone: 'plain',
    icon: 'check',
  },
};

/** Whether the order may still change while one waits for it. */
export function isOpen(status: OrderStatus): boolean {
  return status === 'pending' || status === 'authorize';
}

export function statusBadge(status: OrderStatus): HTMLElement {
  return h('span', { class: `badge ${STATUS[status].tone}` }, STATUS[status].label);
}
