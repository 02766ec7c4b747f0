import { type InfiniteData, queryOptions } from '@tanstack/react-query';
import { asForm, dataOf } from 'bakery-client';
import { api, itemsOf, listOptions, orNull, type Page, type Product } from './client';
import { queryClient } from './query-client';
import { apiWithProgress, type ShowProgress } from './upload-progress';

/** Beginnings of the keys of all lists, and of all single products. */
const LISTS = ['products', 'list'];
const DETAILS = ['products', 'detail'];
type ListData = InfiniteData<Page<Product, number>>;

/** The catalog, ordered by id: all of it, or the products with this text in their name. */
export function productList(q = '') {
  const list = listOptions<Product, number>([...LISTS, q], async (page, signal) => {
    const query = q === '' ? page : { ...page, q };
    const { products, meta } = await dataOf(api.GET('/api/products', { params: { query }, signal }));
    return { items: products, next: meta.lastProductId };
  });
  return { ...list, staleTime: 60_000 };
}

/** A product; null when there is none with this id. */
export function productDetail(id: number) {
  return queryOptions<Product | null>({
    queryKey: [...DETAILS, id],
    queryFn: async ({ signal }) => {
      const call = api.GET('/api/products/{product_id}', { ...productPath(id), signal });
      return (await orNull(dataOf(call)))?.products ?? null;
    },
    // What the list knows of the product is shown until the answer is there.
    placeholderData: () => {
      const lists = queryClient.getQueriesData<ListData>({ queryKey: LISTS });
      return lists.flatMap(([, list]) => (list ? itemsOf(list) : [])).find((product) => product.id === id);
    },
  });
}

/** Loads again what is shown of products by `productDetail`. */
export function reloadProducts() {
  return queryClient.invalidateQueries({ queryKey: DETAILS });
}

/** A product as it is edited: its texts as typed, which the service checks, and its pictures. */
export interface ProductValues extends Record<'name' | 'price' | 'description', string> {
  images: EditedPicture[];
}

export interface EditedPicture {
  /** Address under which the browser shows it. */
  src: string;
  /** Only of a new picture. */
  file?: File;
  /** Whether the product is to lose it. */
  isRemoved?: boolean;
}

/**
 * Creates a product, or changes the one with this id.
 *
 * @returns the product as it is now
 */
export async function saveProduct(id: number | undefined, values: ProductValues, showProgress: ShowProgress) {
  const client = apiWithProgress(showProgress);
  const { images, ...texts } = values;
  const body = { ...texts, images: images.flatMap(({ file }) => file ?? []) };
  const removed = images.filter(({ isRemoved }) => isRemoved).map(({ src }) => src);
  const changes = { body: { ...body, 'images.removed[]': removed }, bodySerializer: asForm };
  const { products: saved } = await (id === undefined
    ? dataOf(client.POST('/api/products', { body, bodySerializer: asForm }))
    : dataOf(client.PUT('/api/products/{product_id}', { ...productPath(id), ...changes })));
  queryClient.setQueryData(productDetail(saved.id).queryKey, saved);
  changeLists((products) => products.map((product) => (product.id === saved.id ? saved : product)));
  return saved;
}

export async function deleteProduct(id: number) {
  await dataOf(api.DELETE('/api/products/{product_id}', productPath(id)));
  queryClient.setQueryData(productDetail(id).queryKey, null);
  changeLists((products) => products.filter((product) => product.id !== id));
}

function productPath(id: number) {
  return { params: { path: { product_id: id } } };
}

/** Shows a change in the loaded lists at once, and loads them again. */
function changeLists(change: (products: Product[]) => Product[]) {
  queryClient.setQueriesData<ListData>(
    { queryKey: LISTS },
    (list) => list && { ...list, pages: list.pages.map((page) => ({ ...page, items: change(page.items) })) },
  );
  void queryClient.invalidateQueries({ queryKey: LISTS });
}
