import { type InfiniteData, queryOptions } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { api, type Product } from './client';
import { orNullIf404 } from './errors';
import { itemsOf, listOptions, type Page } from './list-options';
import { queryClient, SHORT_STALE_MS } from './query-client';

/** Prefix of all query keys of products. */
export const PRODUCTS_KEY = ['products'];
/** Prefix of the query keys of all lists of products. */
export const PRODUCT_LISTS_KEY = [...PRODUCTS_KEY, 'list'];

/**
 * Query for the available products, sorted by id. With a text, for the products whose names match the text: sorted by id or, if
 * only similar names match, most similar first.
 */
export function productList(text = '') {
  const list = listOptions<Product, number>([...PRODUCT_LISTS_KEY, text], async (page, signal) => {
    const query = text === '' ? page : { ...page, q: text };
    const { products, meta } = await dataOf(api.GET('/api/products', { params: { query }, signal }));
    return { items: products, next: meta.lastProductId };
  });
  return { ...list, staleTime: SHORT_STALE_MS };
}

/** Query for a product. Null if no product has this id or the product is unavailable. Administrators also get unavailable products. */
export function productDetail(id: number) {
  return queryOptions<Product | null>({
    queryKey: [...PRODUCTS_KEY, 'detail', id],
    queryFn: async ({ signal }) => {
      const call = api.GET('/api/products/{product_id}', { ...productParams(id), signal });
      return (await orNullIf404(dataOf(call)))?.products ?? null;
    },
    // Shows the copy from a cached list while the product is loading.
    placeholderData: () => {
      const lists = queryClient.getQueriesData<InfiniteData<Page<Product, number>>>({
        queryKey: PRODUCT_LISTS_KEY,
      });
      return lists
        .flatMap(([, list]) => (list === undefined ? [] : itemsOf(list)))
        .find((product) => product.id === id);
    },
  });
}

export function productParams(id: number) {
  return { params: { path: { product_id: id } } };
}
