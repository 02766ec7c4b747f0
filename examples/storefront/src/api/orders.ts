import { queryOptions, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { api, foundOrNull, listOptions, type Order, type OrderStatus } from './client';
import { queryClient } from './query-client';

const SHORTEST_POLL_MS = 2_000;
const LONGEST_POLL_MS = 15_000;
const POLL_GROWTH = 1.15;

/** Whether a payment for the order may still come. */
export function isOpen(status: OrderStatus) {
  return status === 'pending' || status === 'authorize';
}

/** Whether the order has ended without a payment. */
export function isUnpaid(status: OrderStatus) {
  return ['cancel', 'expire', 'deny', 'failure'].includes(status);
}

function orderDetail(id: string) {
  return queryOptions({
    queryKey: ['orders', 'detail', id],
    queryFn: ({ signal }) => foundOrNull(getOrder(id, signal)),
  });
}

/** The customer's own orders, newest first. */
export function useOrders() {
  const list = listOptions<Order, string>(['orders', 'list', 'own'], async (query, signal) => {
    const { orders, meta } = await dataOf(api.GET('/api/orders', { params: { query }, signal }));
    return { items: orders, next: meta.lastOrderId };
  });
  return useInfiniteQuery(list);
}

/** Orders of all customers, newest first. For administrators. */
export function useAllOrders(filter: { status?: OrderStatus }) {
  const list = listOptions<Order, string>(['orders', 'list', 'all', filter], async (page, signal) => {
    const query = { ...filter, ...page };
    const { orders, meta } = await dataOf(api.GET('/api/admin/orders', { params: { query }, signal }));
    return { items: orders, next: meta.lastOrderId };
  });
  return useInfiniteQuery(list);
}

/**
 * An order; `data` is null when there is none with this id. While it waits for its payment it is loaded again with
 * growing gaps as long as the tab is shown, and at once when the tab is looked at again.
 */
export function useOrder(id: string) {
  return useQuery({
    ...orderDetail(id),
    refetchInterval: ({ state: { data, dataUpdateCount, errorUpdateCount } }) => {
      if (data === null || (data && !isOpen(data.status))) return false;
      return Math.min(
        SHORTEST_POLL_MS * POLL_GROWTH ** (dataUpdateCount + errorUpdateCount),
        LONGEST_POLL_MS,
      );
    },
    refetchOnWindowFocus: 'always',
  });
}

export function useCancelOrder(id: string) {
  return useMutation({
    mutationFn: () => dataOf(api.POST('/api/orders/{order_id}/cancel', orderPath(id))),
    onSuccess: ({ order }) => keepOrder(order),
  });
}

/** Asks for a payment page for an order that has none. */
export function useNewPaymentPage(order: Order) {
  return useMutation({
    mutationFn: () => dataOf(api.POST('/api/orders/{order_id}/token', orderPath(order.order_id))),
    onSuccess: (page) => keepOrder({ ...order, ...page }),
  });
}

/** Puts an order that the service answered with where the pages read it. */
export function keepOrder(order: Order) {
  queryClient.setQueryData(orderDetail(order.order_id).queryKey, order);
  void queryClient.invalidateQueries({ queryKey: ['orders', 'list'] });
}

async function getOrder(id: string, signal: AbortSignal) {
  return (await dataOf(api.GET('/api/orders/{order_id}', { ...orderPath(id), signal }))).order;
}

function orderPath(id: string) {
  return { params: { path: { order_id: id } } };
}
