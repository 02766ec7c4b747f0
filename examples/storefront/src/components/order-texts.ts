import type { Fulfilment, Order, OrderStatus } from '../api/client';
import { isOpen, isPaid, isRefundedInFull } from '../api/order-status';
import { formatPrice } from '../format';
import { findText, t } from '../i18n';
import type { Tone } from './badge';

interface StatusText {
  label: string;
  /** Explanation for the customer. */
  text: string;
  tone: Tone;
}

const STATUS_TONES: Record<OrderStatus, Tone> = {
  pending: 'waiting',
  authorize: 'waiting',
  capture: 'success',
  settlement: 'success',
  deny: 'error',
  failure: 'error',
  expire: 'error',
  cancel: 'plain',
  refund: 'plain',
  partial_refund: 'plain',
};
export const STATUSES = Object.keys(STATUS_TONES) as OrderStatus[];

const FULFILMENT_TONES: Record<Fulfilment, Tone> = {
  new: 'waiting',
  preparing: 'waiting',
  ready: 'success',
  collected: 'plain',
  refused: 'error',
};
export const FULFILMENTS = Object.keys(FULFILMENT_TONES) as Fulfilment[];

export function describeFulfilment(step: Fulfilment): StatusText {
  return { label: t(`fulfilment.${step}`), text: t(`fulfilment.${step}.text`), tone: FULFILMENT_TONES[step] };
}

function describeStatus(status: OrderStatus): StatusText {
  return { label: t(`status.${status}`), text: t(`status.${status}.text`), tone: STATUS_TONES[status] };
}

/**
 * Returns the label of a payment's status. A captured payment is labelled as paid unless the fraud check challenged or denied it.
 * The status may be any text.
 */
export function labelStatus(status: string, fraudStatus: string | null): string {
  if (status === 'capture' && fraudStatus === 'challenge') return t('status.review');
  if (status === 'capture' && fraudStatus === 'deny') return t('status.deny');
  return findText(`status.${status}`) ?? status;
}

/** Describes the payment of an order. A captured payment counts as paid unless the fraud check challenged or denied it. */
export function describePayment(order: Order): StatusText {
  if (isRefundedInFull(order)) return describeStatus('refund');
  // The order itself has not expired: the customer can pay in another way.
  if (order.status === 'expire' && isOpen(order)) return describeStatus('failure');
  // The service waits for late notifications for some time before the order expires.
  if (order.status === 'pending' && !isOpen(order))
    return { label: t('order.payOver'), text: t('order.payOver.text'), tone: 'error' };
  if (order.status !== 'capture' || isPaid(order)) return describeStatus(order.status);
  if (order.fraud_status === 'challenge')
    return { label: t('status.review'), text: t('status.review.text'), tone: 'waiting' };
  return { ...describeStatus('deny'), text: t('status.deniedCapture.text') };
}

/** Describes the refusal of a refused order, and the payment of any other order, to the customer. */
export function describeOrder(order: Order): StatusText {
  if (order.fulfilment === 'refused') {
    const refused = describeFulfilment('refused');
    return { ...refused, text: `${refused.text} ${describeRefund(order)}` };
  }
  if (order.status !== 'partial_refund' || isRefundedInFull(order)) return describePayment(order);
  return { ...describeStatus('partial_refund'), text: t('refund.partOnItsWay', describeAmounts(order)) };
}

function describeRefund(order: Order) {
  const total = formatPrice(order.gross_amount);
  if (isRefundedInFull(order)) return t('refund.onItsWay', { total });
  if (!isPaid(order)) return t('refund.nothingToPay');
  if (order.refunded_amount === 0) return t('refund.willReturn', { total });
  return `${t('refund.partOnItsWay', describeAmounts(order))} ${t('refund.restFollows')}`;
}

function describeAmounts({ refunded_amount, gross_amount }: Order) {
  return { amount: formatPrice(refunded_amount), total: formatPrice(gross_amount) };
}

/** Describes a payment method of the gateway, such as `bank_transfer`. */
export function describeMethod(type: string | null): string {
  if (type === null) return '';
  return findText(`payment.method.${type}`) ?? type.replaceAll('_', ' ');
}
