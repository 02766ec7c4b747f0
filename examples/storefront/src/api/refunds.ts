import { dataOf } from 'bakery-client';
import { api, type Schemas } from './client';
import { hasCode, isResponseLost } from './errors';
import { adminOrderDetail, orderParams, reloadOrdersAfter } from './orders';
import { queryClient } from './query-client';

/** Payment that can be refunded: a transaction, or without a `transaction_id` the payment that counts for the order. */
export interface RefundablePayment {
  transaction_id?: string;
  gross_amount: number;
  refunded_amount: number;
}

export function getRefundableAmount({ gross_amount, refunded_amount }: RefundablePayment) {
  return gross_amount - refunded_amount;
}

/** Key of the mutations that may refund a payment of an order. */
export function refundMutationKey(orderId: string) {
  return ['refund', orderId];
}

/** Body of a refund without the transaction, which `refundOrder` adds. */
export type Refund = Omit<Schemas['RefundDto'], 'transaction_id'>;

/**
 * Refunds a payment: an amount, or all that remains. Neither a retry after a lost response nor the same refund in another tab or
 * by a colleague refunds twice. Reloads orders even after a failure.
 */
export async function refundOrder(id: string, payment: RefundablePayment, refund: Refund) {
  const { transaction_id, refunded_amount } = payment;
  const body = { ...refund, ...(transaction_id && { transaction_id }) };
  // The key depends on `refunded_amount` as the page shows it: every device that shows the same order has the same key. A further
  // refund of the same amount gets another key, because the page shows the first refund by then.
  const amount = refund.amount ?? 'rest';
  const refundName = `bakery.refund ${transaction_id ?? id} ${refunded_amount} ${amount} ${refund.manual ? 'by hand' : 'gateway'}`;
  const rejections = Number(sessionStorage.getItem(refundName));
  const key = `${refundName} ${rejections}`;
  const params = { ...orderParams(id).params, header: { 'Idempotency-Key': key } };
  try {
    // If the reload fails, the page still shows the old sum, so a second press sends the same key.
    await reloadOrdersAfter(dataOf(api.POST('/api/admin/orders/{order_id}/refund', { params, body })));
  } catch (error) {
    // After a 409, the service may reject every further request with this key, so the next try gets a new key. After any
    // other failure, the key stays: this try or an earlier one may have refunded although its response was lost.
    if (hasCode(error, 409)) sessionStorage.setItem(refundName, String(rejections + 1));
    const expectedSum = refunded_amount + (refund.amount ?? getRefundableAmount(payment));
    if (!isResponseLost(error) || readRefundedAmount(id, transaction_id) !== expectedSum) throw error;
  }
}

/** Returns the sum of the refunds of a payment, as the last response stated it. */
export function readRefundedAmount(id: string, transactionId?: string): number | undefined {
  const { order, transactions } = queryClient.getQueryData(adminOrderDetail(id).queryKey) ?? {};
  if (transactionId === undefined) return order?.refunded_amount;
  return transactions?.find(({ transaction_id }) => transaction_id === transactionId)?.refunded_amount;
}
