import type { Order } from './client';

/** Returns true if money was received and not returned in full. A denied or challenged card payment does not count. */
export function isPaid(order: Order) {
  const { status, fraud_status } = order;
  if (isRefundedInFull(order)) return false;
  if (status === 'capture') return fraud_status !== 'deny' && fraud_status !== 'challenge';
  return status === 'settlement' || status === 'partial_refund';
}

/** Returns true if the money of the order was returned in full. */
export function isRefundedInFull({ status, refunded_amount, gross_amount }: Order) {
  // A manual refund and one by the gateway can return everything together while the status stays `partial_refund`.
  return status === 'refund' || refunded_amount >= gross_amount;
}

/** Returns true if the customer can pay or cancel the order, also after a payment that failed. */
export function isOpen({ pay_until }: Order) {
  return pay_until !== null;
}

/** Returns true if the last payment failed. If the order is open, the customer needs another payment page. */
export function hasFailedPayment({ status }: Order) {
  return status === 'deny' || status === 'failure' || status === 'expire';
}

/** Returns true if the order waits for its payment or for a step of the bakery. */
export function isUnderWay(order: Order) {
  const { status, fraud_status, fulfilment } = order;
  const isChallenged = status === 'capture' && fraud_status === 'challenge';
  const isPaymentOpen = isOpen(order) || status === 'pending' || status === 'authorize' || isChallenged;
  // From `preparing` on, the steps of the bakery do not depend on the payment.
  const isInProgress = fulfilment === 'preparing' || fulfilment === 'ready';
  return isPaymentOpen || isInProgress || (isPaid(order) && fulfilment === 'new');
}
