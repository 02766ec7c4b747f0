import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { type components, createBakeryClient } from 'bakery-client';
import { handleSessionEnd } from '../state/session';
import { hasCode } from './errors';

export type Schemas = components['schemas'];
export type Product = Schemas['ListedProductView'];
export type AdminProduct = Schemas['AdminProductView'];
export type Order = Schemas['OrderView'];
export type OrderStatus = Order['status'];
export type Fulfilment = Order['fulfilment'];
export type AdminOrder = Schemas['AdminOrderView'];
/** Event of an order's payment history. */
export type PaymentEvent = Schemas['NotificationView'];
export type Transaction = Schemas['TransactionView'];
export type OrderAction = Schemas['ActionView'];
export type Shop = Schemas['ShopView'];
export type AdminShop = Schemas['AdminShopView'];
export type ShopSettings = Schemas['ShopDto'];
export type User = Schemas['UserWithRoleView'];

export const API_OPTIONS = {
  baseUrl: (import.meta.env.VITE_API_URL as string | undefined) ?? 'http://localhost:3000',
  onSignedOut: handleSessionEnd,
};

export const api = createBakeryClient(API_OPTIONS);

/** Number of items in every page but the last. */
const PAGE_SIZE = 50;

/** Page of a list. `next` is the `last_id` that requests the following page. It is null if the page is empty. */
export interface Page<Item, Id> {
  items: Item[];
  next: Id | null;
}

/** Query options for a list that is loaded page by page. The `data` of the query is the items of all loaded pages. */
export function listOptions<Item, Id extends string | number>(
  queryKey: readonly unknown[],
  getPage: (query: { last_id?: Id }, signal: AbortSignal) => Promise<Page<Item, Id>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: async ({ pageParam, signal }): Promise<Page<Item, Id>> => {
      const query: { last_id?: Id } = pageParam === null ? {} : { last_id: pageParam as Id };
      // The service returns 404 for a page without items.
      return (await orNullIf404(getPage(query, signal))) ?? { items: [], next: null };
    },
    initialPageParam: null as Id | null,
    getNextPageParam: ({ items, next }) => (items.length < PAGE_SIZE ? null : next),
    select: itemsOf,
  });
}

export function itemsOf<Item>({ pages }: InfiniteData<Page<Item, unknown>>) {
  return pages.flatMap(({ items }) => items);
}

/** Returns the data of a call, or null if the call fails with 404. */
export function orNullIf404<Data>(call: Promise<Data>) {
  return call.catch((error: unknown) => {
    if (hasCode(error, 404)) return null;
    throw error;
  });
}
