import type { Fulfilment, Order, OrderStatus } from '../api/client';
import { isPaid } from '../api/orders';
import { formatPrice } from '../format';

interface StatusText {
  label: string;
  /** Explanation for the customer. */
  text: string;
  tone: 'waiting' | 'good' | 'bad' | 'plain';
}

const PAID: StatusText = { label: 'Paid', text: 'Thank you! We have received your payment.', tone: 'good' };

export const STATUS_TEXTS: Record<OrderStatus, StatusText> = {
  pending: { label: 'Waiting for payment', text: 'This page updates when you have paid.', tone: 'waiting' },
  authorize: {
    label: 'Authorised',
    text: 'Your bank has approved the payment. It is not completed yet.',
    tone: 'waiting',
  },
  capture: PAID,
  settlement: PAID,
  deny: { label: 'Payment denied', text: 'The payment was rejected. Nothing was charged.', tone: 'bad' },
  failure: { label: 'Payment failed', text: 'The payment did not go through.', tone: 'bad' },
  expire: { label: 'Expired', text: 'The order was not paid in time. Please order again.', tone: 'bad' },
  cancel: { label: 'Cancelled', text: 'This order was cancelled.', tone: 'plain' },
  refund: { label: 'Refunded', text: 'Your payment is on its way back.', tone: 'plain' },
  partial_refund: {
    label: 'Partly refunded',
    text: 'Part of your payment is on its way back.',
    tone: 'plain',
  },
};

export const FULFILMENT_TEXTS: Record<Fulfilment, StatusText> = {
  new: { label: 'New', text: 'We have your order and start soon.', tone: 'waiting' },
  preparing: { label: 'Preparing', text: 'We are baking for you.', tone: 'waiting' },
  ready: { label: 'Ready', text: 'Your order is ready. Come and collect it.', tone: 'good' },
  collected: { label: 'Collected', text: 'Enjoy it!', tone: 'plain' },
  refused: { label: 'Refused', text: 'We are sorry, we cannot make this order.', tone: 'bad' },
};

const UNDER_REVIEW: StatusText = {
  label: 'Payment under review',
  text: 'Your card payment is being checked. We start when it is approved.',
  tone: 'waiting',
};

const DENIED_AFTER_CAPTURE: StatusText = {
  ...STATUS_TEXTS.deny,
  text: 'Your card payment was not accepted. If it was charged, we will return the money.',
};

/** Describes the payment of an order. A captured payment counts as paid unless the fraud check challenged or denied it. */
export function describePayment(order: Order): StatusText {
  if (order.status !== 'capture' || isPaid(order)) return STATUS_TEXTS[order.status];
  return order.fraud_status === 'challenge' ? UNDER_REVIEW : DENIED_AFTER_CAPTURE;
}

/** Describes the refusal of a refused order, and the payment of any other order, to the customer. */
export function describeOrder(order: Order): StatusText {
  if (order.fulfilment === 'refused') return { ...FULFILMENT_TEXTS.refused, text: describeRefusal(order) };
  if (order.status !== 'partial_refund') return describePayment(order);
  return { ...STATUS_TEXTS.partial_refund, text: `${describeRefund(order)} is on its way back.` };
}

function describeRefusal(order: Order) {
  const { status, refunded_amount, gross_amount } = order;
  const sorry = FULFILMENT_TEXTS.refused.text;
  if (status === 'refund') return `${sorry} Your payment of ${formatPrice(gross_amount)} is on its way back.`;
  if (!isPaid(order)) return `${sorry} You do not have to pay for it.`;
  if (refunded_amount === 0) return `${sorry} We will return your payment of ${formatPrice(gross_amount)}.`;
  return `${sorry} ${describeRefund(order)} is on its way back. The rest follows.`;
}

function describeRefund({ refunded_amount, gross_amount }: Order) {
  return `${formatPrice(refunded_amount)} of ${formatPrice(gross_amount)}`;
}

export function Badge({ label, tone }: Omit<StatusText, 'text'>) {
  return <span className={`badge ${tone}`}>{label}</span>;
}
