import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { createBakeryClient, type paths, type Send } from 'bakery-client';
import { useSession } from '../state/session';
import { hasCode } from './errors';

type Ok<Operation> = Operation extends {
  responses: { 200: { content: { 'application/json': { data: infer Data } } } };
}
  ? Data
  : never;

export type Product = Ok<paths['/api/products/{product_id}']['get']>['products'];
export type Order = Ok<paths['/api/orders/{order_id}']['get']>['order'];
export type OrderStatus = Order['status'];
export type User = Ok<paths['/api/refresh']['get']>['user'];

const OPTIONS = {
  baseUrl: import.meta.env.VITE_API_URL ?? 'http://localhost:3000',
  onSignedOut: () => useSession.getState().endSession(),
};

export const api = createBakeryClient(OPTIONS);

/** A client that sends in another way than by `fetch`. */
export function apiSendingBy(send: Send) {
  return createBakeryClient({ ...OPTIONS, fetch: send });
}

/** A page of a list; `next` is the `last_id` of the page after it. */
export interface Page<Item, Id> {
  items: Item[];
  next: Id | null;
}

/** A list that is loaded page by page. Its data are the items of all loaded pages. */
export function listOptions<Item, Id extends string | number>(
  queryKey: readonly unknown[],
  getPage: (query: { last_id?: Id }, signal: AbortSignal) => Promise<Page<Item, Id>>,
) {
  return infiniteQueryOptions<Page<Item, Id>, Error, Item[], readonly unknown[], Id | null>({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const query: { last_id?: Id } = {};
      if (pageParam !== null) query.last_id = pageParam as Id;
      // The service answers 404 after the last page.
      return (await foundOrNull(getPage(query, signal))) ?? { items: [], next: null };
    },
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    select: itemsOf,
  });
}

export function itemsOf<Item>({ pages }: InfiniteData<Page<Item, unknown>>) {
  return pages.flatMap(({ items }) => items);
}

/** The answer, or null where the service answers 404. */
export async function foundOrNull<T>(answer: Promise<T>) {
  try {
    return await answer;
  } catch (error) {
    if (hasCode(error, 404)) return null;
    throw error;
  }
}
