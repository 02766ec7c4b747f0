import { type InfiniteData, queryOptions } from '@tanstack/react-query';
import { asForm, dataOf } from 'bakery-client';
import { api, itemsOf, listOptions, orNull, type Page, type Product } from './client';
import { queryClient } from './query-client';
import { apiWithProgress, type ShowProgress } from './upload-progress';

/** Prefixes of the query keys of lists and of single products. */
const LISTS = ['products', 'list'];
const DETAILS = ['products', 'detail'];
type ListData = InfiniteData<Page<Product, number>>;

/** Products by id: the whole catalog, or those with all words of the text in their name. */
export function productList(q = '') {
  const list = listOptions<Product, number>([...LISTS, q], async (page, signal) => {
    const query = q === '' ? page : { ...page, q };
    const { products, meta } = await dataOf(api.GET('/api/products', { params: { query }, signal }));
    return { items: products, next: meta.lastProductId };
  });
  return { ...list, staleTime: 60_000 };
}

/** Product, or null if there is none with this id. */
export function productDetail(id: number) {
  return queryOptions<Product | null>({
    queryKey: [...DETAILS, id],
    queryFn: async ({ signal }) => {
      const call = api.GET('/api/products/{product_id}', { ...productPath(id), signal });
      return (await orNull(dataOf(call)))?.products ?? null;
    },
    // The product of a cached list is shown while the product is loading.
    placeholderData: () => {
      const lists = queryClient.getQueriesData<ListData>({ queryKey: LISTS });
      return lists.flatMap(([, list]) => (list ? itemsOf(list) : [])).find((product) => product.id === id);
    },
  });
}

/** Treats a product as missing, after an order for it was rejected. */
export async function markSoldOut(id: number) {
  await queryClient.cancelQueries({ queryKey: productDetail(id).queryKey });
  queryClient.setQueryData(productDetail(id).queryKey, null);
}

/** Caches the price that the service named when it rejected an order. */
export async function correctPrice(id: number, price: number) {
  const { queryKey } = productDetail(id);
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, (product) => product && { ...product, price });
  void queryClient.invalidateQueries({ queryKey });
}

/** Values of the product form: texts as typed, which the service validates, and pictures. */
export interface ProductValues extends Record<'name' | 'price' | 'description', string> {
  images: EditedPicture[];
}

export interface EditedPicture {
  /** URL under which the browser shows the picture. */
  src: string;
  /** File of a new picture. */
  file?: File;
  /** Marks an existing picture for removal. */
  isRemoved?: boolean;
}

/** Creates a product, or changes the one with this id, and returns it. */
export async function saveProduct(id: number | undefined, values: ProductValues, showProgress: ShowProgress) {
  const client = apiWithProgress(showProgress);
  const { images, ...texts } = values;
  const body = { ...texts, images: images.flatMap(({ file }) => file ?? []) };
  const removed = images.filter(({ isRemoved }) => isRemoved).map(({ src }) => src);
  const changes = { body: { ...body, 'images.removed[]': removed }, bodySerializer: asForm };
  const { products: saved } = await (id === undefined
    ? dataOf(client.POST('/api/products', { body, bodySerializer: asForm }))
    : dataOf(client.PUT('/api/products/{product_id}', { ...productPath(id), ...changes })));
  updateProduct(saved);
  return saved;
}

/** Caches a product that has changed. */
export function updateProduct(changed: Product) {
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
