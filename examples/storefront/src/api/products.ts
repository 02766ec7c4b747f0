import { type InfiniteData, queryOptions } from '@tanstack/react-query';
import { asForm, dataOf, type paths } from 'bakery-client';
import {
  type AdminProduct,
  api,
  itemsOf,
  listOptions,
  orNullIf404,
  type Page,
  type Product,
  type Schemas,
} from './client';
import { queryClient } from './query-client';
import { createProgressClient, type ShowProgress } from './upload-progress';

/** Prefixes of the query keys of lists and of single products. */
const LISTS = ['products', 'list'];
const DETAILS = ['products', 'detail'];
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

/** Query parameters that search and filter the administrators' product list. */
export type ProductFilter = paths['/api/admin/products']['get']['parameters']['query'];

/** All products in the order of their ids, also unavailable ones. For administrators. */
export function allProducts(filter: ProductFilter) {
  return listOptions<AdminProduct, number>([...LISTS, 'all', filter], async (page, signal) => {
    const query = { ...filter, ...page };
    const { products, meta } = await dataOf(api.GET('/api/admin/products', { params: { query }, signal }));
    return { items: products, next: meta.lastProductId };
  });
}

/** Product, or null if no product has this id or the product is unavailable. Administrators get unavailable products. */
export function productDetail(id: number) {
  return queryOptions<Product | null>({
    queryKey: [...DETAILS, id],
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

/** Caches the price that the service returned when it rejected an order, then reloads the product. */
export async function correctPrice(id: number, price: number) {
  const { queryKey } = productDetail(id);
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, (product) => product && { ...product, price });
  void queryClient.invalidateQueries({ queryKey });
}

/** Values of the product form. The service validates the texts. */
export interface ProductValues extends Record<'name' | 'price' | 'description', string> {
  images: EditedPicture[];
}

export interface EditedPicture {
  /** URL of an existing picture, or object URL of a new one. */
  src: string;
  file?: File;
  /** True for an existing picture that saving the product removes. */
  isRemoved?: boolean;
}

/** Changes the product with this id, or creates a product if `id` is undefined. */
export async function saveProduct(id: number | undefined, values: ProductValues, showProgress: ShowProgress) {
  const client = createProgressClient(showProgress);
  const { images, ...texts } = values;
  const body = { ...texts, images: images.flatMap(({ file }) => file ?? []) };
  const removed = images.filter(({ isRemoved }) => isRemoved).map(({ src }) => src);
  const creation = { body, bodySerializer: asForm };
  const change = { body: { ...body, 'images.removed[]': removed }, bodySerializer: asForm };
  const { products: saved } = await (id === undefined
    ? dataOf(client.POST('/api/products', creation))
    : dataOf(client.PUT('/api/products/{product_id}', { ...productPath(id), ...change })));
  cacheProduct(saved);
  return saved;
}

/** Makes a product available or unavailable. With `body.until`, an unavailable product is available again from that date. */
export async function setAvailability(id: number, body: Schemas['AvailabilityDto']) {
  const call = api.PUT('/api/admin/products/{product_id}/availability', { ...productPath(id), body });
  cacheProduct((await dataOf(call)).product);
}

function cacheProduct(changed: Product) {
  queryClient.setQueryData(productDetail(changed.id).queryKey, changed);
  changeLists((products) =>
    products.map((product) => (product.id === changed.id ? { ...product, ...changed } : product)),
  );
}

export async function deleteProduct(id: number) {
  await dataOf(api.DELETE('/api/products/{product_id}', productPath(id)));
  queryClient.setQueryData(productDetail(id).queryKey, null);
  changeLists((products) => products.filter((product) => product.id !== id));
}

function productPath(id: number) {
  return { params: { path: { product_id: id } } };
}

/** Applies a change to the cached lists at once, then reloads them. */
function changeLists(change: (products: Product[]) => Product[]) {
  queryClient.setQueriesData<ListData>(
    { queryKey: LISTS },
    (list) => list && { ...list, pages: list.pages.map((page) => ({ ...page, items: change(page.items) })) },
  );
  void queryClient.invalidateQueries({ queryKey: LISTS });
}
