import { queryOptions } from '@tanstack/react-query';
import { BakeryFailure, dataOf, type paths } from 'bakery-client';
import { type AdminOrder, api, type Fulfilment, type Order } from './client';
import { hasCode, isResponseLost, orNullIf404 } from './errors';
import { listOptions } from './list-options';
import { isPaid, isUnderWay } from './order-status';
import { queryClient } from './query-client';
import { useSession } from '../state/session';

/** Prefix of all query keys of orders, those of day sheets included. */
export const ORDERS_KEY = ['orders'];
/** Prefix of the query keys of all lists of orders. */
export const ORDER_LISTS_KEY = [...ORDERS_KEY, 'list'];

/** Gaps between the polls of one order. Each gap is longer than the gap before by the factor POLL_GROWTH. */
const SHORTEST_POLL_MS = 2_000;
const LONGEST_POLL_MS = 15_000;
const POLL_GROWTH = 1.15;

const LIST_POLL_MS = 15_000;

/**
 * Returns the gap until the next poll of a list or a day sheet. After the end of the session, there are no polls until the
 * sign-in has reloaded the list.
 */
export function getListPollGap({ state: { error } }: { state: { error: Error | null } }) {
  return hasCode(error, 401) ? false : LIST_POLL_MS;
}

/** The customer's own orders, newest first. */
export const ownOrders = {
  ...listOptions<Order, string>([...ORDER_LISTS_KEY, 'own'], async (query, signal) => {
    const { orders, meta } = await dataOf(api.GET('/api/orders', { params: { query }, signal }));
    return { items: orders, next: meta.lastOrderId };
  }),
  refetchInterval: getListPollGap,
};

/** Query parameters that search and filter the administrators' order list. */
export type OrderFilter = paths['/api/admin/orders']['get']['parameters']['query'];

/** Orders of all customers, newest first, or by pickup time with the filter `pickup`. For administrators. */
export function allOrders(filter: OrderFilter) {
  const list = listOptions<AdminOrder, string>([...ORDER_LISTS_KEY, 'all', filter], async (page, signal) => {
    const query = { ...filter, ...page };
    const { orders, meta } = await dataOf(api.GET('/api/admin/orders', { params: { query }, signal }));
    return { items: orders, next: meta.lastOrderId };
  });
  return { ...list, refetchInterval: getListPollGap };
}

/** Ids of the paid orders among the 50 newest orders of all customers. For administrators. */
export const newestPaidOrderIds = queryOptions({
  queryKey: [...ORDERS_KEY, 'newest'],
  queryFn: async ({ signal }) => {
    const call = dataOf(api.GET('/api/admin/orders', { signal }));
    const orders = (await orNullIf404(call))?.orders ?? [];
    // The query parameter `paid` would not do: after a refund, an old order would move up and look new.
    return orders.filter(isPaid).map(({ order_id }) => order_id);
  },
  refetchInterval: getListPollGap,
  refetchIntervalInBackground: true,
});

interface OrderQuery {
  state: {
    data: { order: Order } | null | undefined;
    dataUpdateCount: number;
    error: Error | null;
    errorUpdateCount: number;
  };
}

/** Returns the gap until the next poll of an order, or false for a missing or finished order, and after the end of the session. */
function getPollGap({ state: { data, dataUpdateCount, error, errorUpdateCount } }: OrderQuery) {
  if (data === null || (data && !isUnderWay(data.order)) || hasCode(error, 401)) return false;
  return Math.min(SHORTEST_POLL_MS * POLL_GROWTH ** (dataUpdateCount + errorUpdateCount), LONGEST_POLL_MS);
}

/** Order of the signed-in customer, or null if there is none with this id. */
export function orderDetail(id: string) {
  return queryOptions({
    queryKey: [...ORDERS_KEY, 'detail', id],
    queryFn: ({ signal }) =>
      orNullIf404(dataOf(api.GET('/api/orders/{order_id}', { ...orderParams(id), signal }))),
    refetchInterval: getPollGap,
    refetchOnWindowFocus: 'always',
  });
}

/** Any order with its first 50 payment events, or null if no order has this id. For administrators. */
export function adminOrderDetail(id: string) {
  return queryOptions({
    queryKey: [...ORDERS_KEY, 'admin', id],
    queryFn: ({ signal }) =>
      orNullIf404(dataOf(api.GET('/api/admin/orders/{order_id}', { ...orderParams(id), signal }))),
    refetchInterval: getPollGap,
  });
}

export async function cancelOrder(id: string) {
  await reloadOrdersAfter(dataOf(api.POST('/api/orders/{order_id}/cancel', orderParams(id))));
}

/** Requests a payment page. The service returns the live page, or opens a new one after a failed payment. */
export async function requestPaymentPage(id: string) {
  await reloadOrdersAfter(dataOf(api.POST('/api/orders/{order_id}/token', orderParams(id))));
}

/**
 * Waits for a call that changes an order, and reloads the orders. Also reloads them after a failure: the order may have changed
 * before, for example by a payment, or the response of the change may have been lost.
 */
export async function reloadOrdersAfter(call: Promise<unknown>) {
  try {
    await call;
  } finally {
    await queryClient.invalidateQueries({ queryKey: ORDERS_KEY });
  }
}

/**
 * Changes the fulfilment of each order. Continues after a rejected order, and stops if there is no response. Then reloads all
 * orders.
 * @returns the changed orders as they were before, without those that a colleague has changed in the same way, and the errors of the
 * orders that failed, by order id
 */
export async function changeFulfilments(orders: Order[], toFulfilment: (order: Order) => Fulfilment) {
  const changed: Order[] = [];
  const errors: Record<string, Error> = {};
  for (const order of orders) {
    try {
      if (await changeFulfilment(order, toFulfilment(order))) changed.push(order);
    } catch (error) {
      errors[order.order_id] = error as Error;
      // Without a response, the other requests would fail too.
      if (!(error instanceof BakeryFailure)) break;
    }
  }
  await queryClient.invalidateQueries({ queryKey: ORDERS_KEY });
  return { changed, errors };
}

/** Changes the fulfilment of an order. Returns false if a colleague has changed it in the same way. */
async function changeFulfilment({ order_id }: Order, fulfilment: Fulfilment): Promise<boolean> {
  const change = { ...orderParams(order_id), body: { fulfilment } };
  try {
    await dataOf(api.PUT('/api/admin/orders/{order_id}/fulfilment', change));
    return true;
  } catch (error) {
    const last = hasCode(error, 409) || isResponseLost(error) ? await readLastStep(order_id) : undefined;
    if (last?.action !== fulfilment) throw error;
    return isResponseLost(error) && last.by?.id === useSession.getState().user?.id;
  }
}

export function orderParams(id: string) {
  return { params: { path: { order_id: id } } };
}

/** Returns the last step of an order; undefined if there is none, or the order cannot be loaded. */
function readLastStep(id: string) {
  return dataOf(api.GET('/api/admin/orders/{order_id}', orderParams(id))).then(
    ({ actions }) => actions.findLast(({ action }) => action !== 'refund' && action !== 'cancel'),
    () => undefined,
  );
}
