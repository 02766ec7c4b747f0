import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { orNullIf404 } from './errors';

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
