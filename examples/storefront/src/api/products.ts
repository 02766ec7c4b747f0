import { type InfiniteData, queryOptions } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { api, itemsOf, listOptions, orNullIf404, type Page, type Product } from './client';
import { queryClient } from './query-client';

/** Prefix of all query keys of products. */
export const PRODUCTS = ['products'];
/** Prefix of the query keys of lists. */
export const LISTS = [...PRODUCTS, 'list'];
type ListData = InfiniteData<Page<Product, number>>;

/** Available products in the order of their ids. With a text, only products whose names contain all its words. */
export function productList(text = '') {
  const list = listOptions<Product, number>([...LISTS, text], async (page, signal) => {
    const query = text === '' ? page : { ...page, q: text };
    const { products, meta } = await dataOf(api.GET('/api/products', { params: { query }, signal }));
    return { items: products, next: meta.lastProductId };
  });
  return { ...list, staleTime: 60_000 };
}

/** Product, or null if no product has this id or the product is unavailable. Administrators get unavailable products. */
export function productDetail(id: number) {
  return queryOptions<Product | null>({
    queryKey: [...PRODUCTS, 'detail', id],
    queryFn: async ({ signal }) => {
      const call = api.GET('/api/products/{product_id}', { ...productPath(id), signal });
      return (await orNullIf404(dataOf(call)))?.products ?? null;
    },
    // Shows the copy from a cached list while the product is loading.
    placeholderData: () => {
      const lists = queryClient.getQueriesData<ListData>({ queryKey: LISTS });
      return lists.flatMap(([, list]) => (list ? itemsOf(list) : [])).find((product) => product.id === id);
    },
  });
}

/** Caches that a product is unavailable, after the service rejected an order for it. */
export async function markUnavailable(id: number) {
  // A response that is still loading may be older than the rejection.
  await queryClient.cancelQueries({ queryKey: productDetail(id).queryKey });
  queryClient.setQueryData(productDetail(id).queryKey, null);
}

export function productPath(id: number) {
  return { params: { path: { product_id: id } } };
}
