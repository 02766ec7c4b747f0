import { queryOptions, useMutation } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import {
  type AdminOrder,
  api,
  type Fulfilment,
  listOptions,
  nullIfMissing,
  type Order,
  type OrderStatus,
} from './client';
import { queryClient } from './query-client';

const SHORTEST_POLL_MS = 2_000;
const LONGEST_POLL_MS = 15_000;
const POLL_GROWTH = 1.15;

/** Whether an order is paid. */
export function isPaid(status: OrderStatus) {
  return status === 'settlement' || status === 'capture';
}

/** Whether a payment may still come, or the bakery's next step. */
function isUnderWay({ status, fulfilment }: Order) {
  const isOpen = status === 'pending' || status === 'authorize';
  // The bakery goes on with an order that it has begun, also when a part of the money is given back.
  return isOpen || isBegun(fulfilment) || (isPaid(status) && fulfilment === 'new');
}

function isBegun(fulfilment: Fulfilment) {
  return fulfilment === 'preparing' || fulfilment === 'ready';
}

/** The customer's own orders, newest first. */
export const ownOrders = listOptions<Order, string>(['orders', 'list', 'own'], async (query, signal) => {
  const { orders, meta } = await dataOf(api.GET('/api/orders', { params: { query }, signal }));
  return { items: orders, next: meta.lastOrderId };
});

export interface OrderFilter {
  status?: OrderStatus;
  fulfilment?: Fulfilment;
  /** Part of the customer's name or e-mail, or the beginning of the order's id. */
  q?: string;
}

/** Orders of all customers, newest first. For administrators. */
export function allOrders(filter: OrderFilter) {
  return listOptions<AdminOrder, string>(['orders', 'list', 'all', filter], async (page, signal) => {
    const query = { ...filter, ...page };
    const { orders, meta } = await dataOf(api.GET('/api/admin/orders', { params: { query }, signal }));
    return { items: orders, next: meta.lastOrderId };
  });
}

/**
 * An order; null when there is none with this id. Until it is collected or ends it is loaded again with growing gaps as
 * long as the tab is shown, and at once when the tab is looked at again.
 */
export function orderDetail(id: string) {
  return queryOptions<Order | null>({
    queryKey: ['orders', 'detail', id],
    queryFn: ({ signal }) => {
      const answer = dataOf(api.GET('/api/orders/{order_id}', { ...orderPath(id), signal }));
      return answer.then(({ order }) => order, nullIfMissing);
    },
    refetchInterval: ({ state: { data, dataUpdateCount, errorUpdateCount } }) => {
      if (data === null || (data && !isUnderWay(data))) return false;
      const gap = SHORTEST_POLL_MS * POLL_GROWTH ** (dataUpdateCount + errorUpdateCount);
      return Math.min(gap, LONGEST_POLL_MS);
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

/**
 * An order with its customer and the first 50 entries of its payment's history; null when there is none with this id. It
 * is loaded again until it is collected or refused. For administrators.
 */
export function adminOrderDetail(id: string) {
  return queryOptions({
    queryKey: ['orders', 'admin', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/admin/orders/{order_id}', { ...orderPath(id), signal })).catch(nullIfMissing),
    refetchInterval: ({ state: { data } }) => {
      const fulfilment = data?.order.fulfilment;
      return fulfilment === 'new' || (fulfilment && isBegun(fulfilment)) ? LONGEST_POLL_MS : false;
    },
  });
}

/** Takes an order to its next step. Whether or not that is possible, what is known of the order is loaded again. */
export function useFulfilOrder(id: string) {
  return useMutation({
    mutationFn: (fulfilment: Fulfilment) =>
      dataOf(api.PUT('/api/admin/orders/{order_id}/fulfilment', { ...orderPath(id), body: { fulfilment } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['orders'] }),
  });
}

/** Puts an order that the service answered with where the pages read it. */
export async function keepOrder(order: Order) {
  const { queryKey } = orderDetail(order.order_id);
  // An older answer that is still on its way would replace this one.
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, order);
  void queryClient.invalidateQueries({ queryKey: ['orders', 'list'] });
}

function orderPath(id: string) {
  return { params: { path: { order_id: id } } };
}
