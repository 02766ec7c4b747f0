import { queryOptions, useInfiniteQuery, useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { asForm, dataOf, type Send } from 'bakery-client';
import { api, apiSendingBy, foundOrNull, itemsOf, listOptions, type Product } from './client';
import { queryClient } from './query-client';

const productList = listOptions<Product, number>(['products', 'list'], async (query, signal) => {
  const { products, meta } = await dataOf(api.GET('/api/products', { params: { query }, signal }));
  return { items: products, next: meta.lastProductId };
});

function productDetail(id: number) {
  return queryOptions<Product | null>({
    queryKey: ['products', 'detail', id],
    queryFn: ({ signal }) => foundOrNull(getProduct(id, signal)),
    // What the list knows of the product is shown until the answer is there.
    placeholderData: () => {
      const list = queryClient.getQueryData(productList.queryKey);
      return list && itemsOf(list).find((product) => product.id === id);
    },
  });
}

/** The catalog, ordered by id. */
export function useProducts() {
  return useInfiniteQuery({ ...productList, staleTime: 60_000 });
}

/** A product; `data` is null when there is none with this id. */
export function useProduct(id: number) {
  return useQuery(productDetail(id));
}

/** Several products, in the order of the ids. */
export function useProductsById(ids: number[]) {
  return useQueries({ queries: ids.map(productDetail) });
}

/** Notes that a product is not in the catalog any more. */
export function productIsGone(id: number) {
  queryClient.setQueryData(productDetail(id).queryKey, null);
}

export interface ProductValues {
  name: string;
  /** As typed; the service checks it. */
  price: string;
  description: string;
  /** New images. */
  added: File[];
  /** URLs of images to remove. */
  removed: string[];
}

/**
 * Creates a product, or changes the one with this id.
 *
 * @param send how the form is sent, for a progress bar
 */
export function useSaveProduct(id: number | null, send: Send) {
  const client = apiSendingBy(send);
  return useMutation({
    mutationFn: ({ added, removed, ...texts }: ProductValues) => {
      const body = { ...texts, images: added };
      if (id === null) return dataOf(client.POST('/api/products', { body, bodySerializer: asForm }));
      const changes = { ...body, 'images.removed[]': removed };
      const options = { ...productPath(id), body: changes, bodySerializer: asForm };
      return dataOf(client.PUT('/api/products/{product_id}', options));
    },
    onSuccess: ({ products: saved }) => {
      queryClient.setQueryData(productDetail(saved.id).queryKey, saved);
      changeList((products) => products.map((product) => (product.id === saved.id ? saved : product)));
    },
  });
}

export function useDeleteProduct(id: number) {
  return useMutation({
    mutationFn: () => dataOf(api.DELETE('/api/products/{product_id}', productPath(id))),
    onSuccess: () => {
      productIsGone(id);
      changeList((products) => products.filter((product) => product.id !== id));
    },
  });
}

async function getProduct(id: number, signal: AbortSignal) {
  return (await dataOf(api.GET('/api/products/{product_id}', { ...productPath(id), signal }))).products;
}

function productPath(id: number) {
  return { params: { path: { product_id: id } } };
}

/** Shows a change in the loaded list at once, and loads it again. */
function changeList(change: (products: Product[]) => Product[]) {
  const { queryKey } = productList;
  queryClient.setQueryData(
    queryKey,
    (list) => list && { ...list, pages: list.pages.map((page) => ({ ...page, items: change(page.items) })) },
  );
  void queryClient.invalidateQueries({ queryKey });
}
