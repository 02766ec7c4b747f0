import { queryOptions } from '@tanstack/react-query';
import { BakeryFailure, dataOf, type paths } from 'bakery-client';
import {
  type AdminOrder,
  api,
  type Fulfilment,
  listOptions,
  orNullIf404,
  type Order,
  type Schemas,
} from './client';
import { forgetIdempotencyKey, reuseOrCreateIdempotencyKey } from './idempotency';
import { queryClient } from './query-client';

const SHORTEST_POLL_MS = 2_000;
const LONGEST_POLL_MS = 15_000;
const POLL_GROWTH = 1.15;

const LIST_POLL_MS = 15_000;

/** Returns true if money was received and not returned in full. A denied or challenged card payment does not count. */
export function isPaid({ status, fraud_status, refunded_amount, gross_amount }: Order) {
  // A refund by hand and one by the gateway can return everything together while the status stays `partial_refund`.
  if (refunded_amount >= gross_amount) return false;
  if (status === 'capture') return fraud_status !== 'deny' && fraud_status !== 'challenge';
  return status === 'settlement' || status === 'partial_refund';
}

/** Payment that can be refunded: a transaction, or without a `transaction_id` the payment that counts for the order. */
export interface RefundablePayment {
  transaction_id?: string;
  gross_amount: number;
  refunded_amount: number;
}

export function getRefundableAmount({ gross_amount, refunded_amount }: RefundablePayment) {
  return gross_amount - refunded_amount;
}

/** Returns true if the customer can pay or cancel the order, also after a payment that failed. */
export function isOpen({ pay_until }: Order) {
  return pay_until !== null;
}

/** Returns true if the last payment of an open order failed, so that the customer needs another payment page. */
export function hasFailedPayment({ status }: Order) {
  return status === 'deny' || status === 'failure' || status === 'expire';
}

/** Returns true if the order waits for its payment or for a step of the bakery. */
function isUnderWay(order: Order) {
  const { status, fraud_status, fulfilment } = order;
  const isChallenged = status === 'capture' && fraud_status === 'challenge';
  const isPaymentOpen = isOpen(order) || status === 'pending' || status === 'authorize' || isChallenged;
  // From `preparing` on, the steps of the bakery do not depend on the payment.
  const isInProgress = fulfilment === 'preparing' || fulfilment === 'ready';
  return isPaymentOpen || isInProgress || (isPaid(order) && fulfilment === 'new');
}

/** The customer's own orders, newest first. */
export const ownOrders = {
  ...listOptions<Order, string>(['orders', 'list', 'own'], async (query, signal) => {
    const { orders, meta } = await dataOf(api.GET('/api/orders', { params: { query }, signal }));
    return { items: orders, next: meta.lastOrderId };
  }),
  refetchInterval: LIST_POLL_MS,
};

/** Query parameters that search and filter the administrators' order list. */
export type OrderFilter = paths['/api/admin/orders']['get']['parameters']['query'];

/** Orders of all customers, newest first. For administrators. */
export function allOrders(filter: OrderFilter) {
  const list = listOptions<AdminOrder, string>(['orders', 'list', 'all', filter], async (page, signal) => {
    const query = { ...filter, ...page };
    const { orders, meta } = await dataOf(api.GET('/api/admin/orders', { params: { query }, signal }));
    return { items: orders, next: meta.lastOrderId };
  });
  return { ...list, refetchInterval: LIST_POLL_MS };
}

/** Ids of the paid orders among the 50 newest orders of all customers. For administrators. */
export const newestPaidOrders = queryOptions({
  queryKey: ['orders', 'newest'],
  queryFn: async ({ signal }) => {
    const call = dataOf(api.GET('/api/admin/orders', { signal }));
    const orders = (await orNullIf404(call))?.orders ?? [];
    // The query parameter `paid` would not do: after a refund, an old order would move up and look new.
    return orders.filter(isPaid).map(({ order_id }) => order_id);
  },
  refetchInterval: LIST_POLL_MS,
  refetchIntervalInBackground: true,
});

interface OrderQuery {
  state: { data: { order: Order } | null | undefined; dataUpdateCount: number; errorUpdateCount: number };
}

/** Returns the gap until the next poll of an order, or false for a missing or finished order. The gaps grow. */
function getPollGap({ state: { data, dataUpdateCount, errorUpdateCount } }: OrderQuery) {
  if (data === null || (data && !isUnderWay(data.order))) return false;
  return Math.min(SHORTEST_POLL_MS * POLL_GROWTH ** (dataUpdateCount + errorUpdateCount), LONGEST_POLL_MS);
}

/** Order of the signed-in customer, or null if there is none with this id. */
export function orderDetail(id: string) {
  return queryOptions({
    queryKey: ['orders', 'detail', id],
    queryFn: ({ signal }) =>
      orNullIf404(dataOf(api.GET('/api/orders/{order_id}', { ...orderPath(id), signal }))),
    refetchInterval: getPollGap,
    refetchOnWindowFocus: 'always',
  });
}

/** Any order with its first 50 payment events, or null if no order has this id. For administrators. */
export function adminOrderDetail(id: string) {
  return queryOptions({
    queryKey: ['orders', 'admin', id],
    queryFn: ({ signal }) =>
      orNullIf404(dataOf(api.GET('/api/admin/orders/{order_id}', { ...orderPath(id), signal }))),
    refetchInterval: getPollGap,
  });
}

export async function cancelOrder(id: string) {
  await cacheOrder(await dataOf(api.POST('/api/orders/{order_id}/cancel', orderPath(id))));
}

/** Requests a payment page: the open one, or a new one after a payment that failed. */
export async function requestPaymentPage(order: Order) {
  const page = await dataOf(api.POST('/api/orders/{order_id}/token', orderPath(order.order_id)));
  await cacheOrder({ order: { ...order, status: 'pending', ...page } });
}

/** Changes the fulfilment of an order. Reloads orders even after a failure, because others may have changed them. */
export async function setFulfilment(id: string, fulfilment: Fulfilment) {
  const change = { ...orderPath(id), body: { fulfilment } };
  const call = dataOf(api.PUT('/api/admin/orders/{order_id}/fulfilment', change));
  await call.finally(() => queryClient.invalidateQueries({ queryKey: ['orders'] }));
}

export type Refund = Omit<Schemas['RefundDto'], 'transaction_id'>;

/** Refunds a payment. Without an amount, refunds all that remains. A retry after a lost response does not refund twice. */
export async function refundOrder(id: string, payment: RefundablePayment, refund: Refund) {
  const { transaction_id, refunded_amount } = payment;
  const name = `bakery.refund.${transaction_id ?? id}`;
  const body = { ...refund, ...(transaction_id && { transaction_id }) };
  // The key depends on `refunded_amount` as the page shows it: a retry has the same key. A further refund of the same amount
  // gets another key, because the page shows the first refund by then.
  const key = reuseOrCreateIdempotencyKey(name, { ...body, refunded_amount });
  const params = { ...orderPath(id).params, header: { 'Idempotency-Key': key } };
  try {
    await dataOf(api.POST('/api/admin/orders/{order_id}/refund', { params, body }));
  } catch (error) {
    // After a 409, the service may reject every further request with this key, so the next try gets a new key. After any
    // other failure, the key stays: this try or an earlier one may have refunded although its response was lost.
    if (error instanceof BakeryFailure && error.code === 409) forgetIdempotencyKey(name);
    throw error;
  } finally {
    // Wait for the reload, so that the button of the page stays busy. If the reload fails, an equal refund has the same key.
    await queryClient.invalidateQueries({ queryKey: ['orders'] });
  }
}

/** Caches the order of a response, so that the page of the order shows it at once. Reloads the lists of orders. */
export async function cacheOrder(response: { order: Order }) {
  const { queryKey } = orderDetail(response.order.order_id);
  // A response that is still loading may be older than this one.
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, response);
  void queryClient.invalidateQueries({ queryKey: ['orders', 'list'] });
}

function orderPath(id: string) {
  return { params: { path: { order_id: id } } };
}
