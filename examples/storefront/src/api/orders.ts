import { queryOptions } from '@tanstack/react-query';
import { dataOf, type paths } from 'bakery-client';
import { type AdminOrder, api, type Fulfilment, listOptions, orNull, type Order } from './client';
import { queryClient } from './query-client';

const SHORTEST_POLL_MS = 2_000;
const LONGEST_POLL_MS = 15_000;
const POLL_GROWTH = 1.15;

export function isPaid({ status }: Order) {
  return status === 'settlement' || status === 'capture';
}

/** Whether a payment may still come, or the bakery's next step. */
function isUnderWay(order: Order) {
  const { status, fulfilment } = order;
  const isOpen = status === 'pending' || status === 'authorize';
  // The bakery goes on with an order that it has begun, also when a part of the money is given back.
  const isBegun = fulfilment === 'preparing' || fulfilment === 'ready';
  return isOpen || isBegun || (isPaid(order) && fulfilment === 'new');
}

/** The customer's own orders, newest first. */
export const ownOrders = listOptions<Order, string>(['orders', 'list', 'own'], async (query, signal) => {
  const { orders, meta } = await dataOf(api.GET('/api/orders', { params: { query }, signal }));
  return { items: orders, next: meta.lastOrderId };
});

/** What the service can search for; `q` is a part of the customer's name or e-mail, or the beginning of the order's id. */
export type OrderFilter = paths['/api/admin/orders']['get']['parameters']['query'];

/** Orders of all customers, newest first. For administrators. */
export function allOrders(filter: OrderFilter) {
  return listOptions<AdminOrder, string>(['orders', 'list', 'all', filter], async (page, signal) => {
    const query = { ...filter, ...page };
    const { orders, meta } = await dataOf(api.GET('/api/admin/orders', { params: { query }, signal }));
    return { items: orders, next: meta.lastOrderId };
  });
}

interface PolledOrder {
  state: { data: { order: Order } | null | undefined; dataUpdateCount: number; errorUpdateCount: number };
}

/** Until an order is collected or ends it is loaded again, with growing gaps, as long as the tab is shown. */
function pollGap({ state: { data, dataUpdateCount, errorUpdateCount } }: PolledOrder) {
  if (data === null || (data && !isUnderWay(data.order))) return false;
  return Math.min(SHORTEST_POLL_MS * POLL_GROWTH ** (dataUpdateCount + errorUpdateCount), LONGEST_POLL_MS);
}

/** An order of the customer's own; null when there is none with this id. */
export function orderDetail(id: string) {
  return queryOptions({
    queryKey: ['orders', 'detail', id],
    queryFn: ({ signal }) => orNull(dataOf(api.GET('/api/orders/{order_id}', { ...orderPath(id), signal }))),
    refetchInterval: pollGap,
    refetchOnWindowFocus: 'always',
  });
}

/** Any order, with its customer and the first 50 entries of its payment's history. For administrators. */
export function adminOrderDetail(id: string) {
  return queryOptions({
    queryKey: ['orders', 'admin', id],
    queryFn: ({ signal }) =>
      orNull(dataOf(api.GET('/api/admin/orders/{order_id}', { ...orderPath(id), signal }))),
    refetchInterval: pollGap,
  });
}

export async function cancelOrder(id: string) {
  await keepOrder(await dataOf(api.POST('/api/orders/{order_id}/cancel', orderPath(id))));
}

/** Asks for a payment page for an order that has none. */
export async function getPaymentPage(order: Order) {
  const page = await dataOf(api.POST('/api/orders/{order_id}/token', orderPath(order.order_id)));
  await keepOrder({ order: { ...order, ...page } });
}

/** Takes an order to its next step. Whether or not that is possible, what is known of the order is loaded again. */
export async function fulfilOrder(id: string, fulfilment: Fulfilment) {
  const step = { ...orderPath(id), body: { fulfilment } };
  const call = dataOf(api.PUT('/api/admin/orders/{order_id}/fulfilment', step));
  await call.finally(() => queryClient.invalidateQueries({ queryKey: ['orders'] }));
}

/** Puts an answer of the service where the order's page reads it. */
export async function keepOrder(answer: { order: Order }) {
  const { queryKey } = orderDetail(answer.order.order_id);
  // An older answer that is still on its way would replace this one.
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, answer);
  void queryClient.invalidateQueries({ queryKey: ['orders', 'list'] });
}

function orderPath(id: string) {
  return { params: { path: { order_id: id } } };
}
