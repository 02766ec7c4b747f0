import { queryOptions } from '@tanstack/react-query';
import { asForm, dataOf, type paths } from 'bakery-client';
import { type AdminProduct, api, type Product, type Schemas, toIfMatchHeader, withEtag } from './client';
import { orNullIf404 } from './errors';
import { listOptions } from './list-options';
import { PRODUCT_LISTS_KEY, productParams, PRODUCTS_KEY } from './products';
import { queryClient } from './query-client';
import { createProgressClient, type OnProgress } from './upload-progress';

const MAX_SEARCH_LENGTH = 100;

/** Query parameters that search and filter the administrators' product list. */
export type ProductFilter = paths['/api/admin/products']['get']['parameters']['query'];

/** All products in the order of their ids, also unavailable ones. For administrators. */
export function allProducts(filter: ProductFilter) {
  return listOptions<AdminProduct, number>([...PRODUCT_LISTS_KEY, 'all', filter], async (page, signal) => {
    const query = { ...filter, ...page };
    const { products, meta } = await dataOf(api.GET('/api/admin/products', { params: { query }, signal }));
    return { items: products, next: meta.lastProductId };
  });
}

export interface EditedProduct {
  product: Product;
  /** Version of the product. A change sends it, so that two people do not overwrite each other's changes. */
  etag: string | null;
}

/** Product with its ETag, or null if no product has this id. For the form that changes the product. */
export function productForEditing(id: number) {
  return queryOptions<EditedProduct | null>({
    queryKey: [...PRODUCTS_KEY, 'edited', id],
    gcTime: 0, // A form starts with current values, not with cached ones.
    queryFn: async ({ signal }) => {
      const call = api.GET('/api/products/{product_id}', { ...productParams(id), signal });
      const result = await orNullIf404(withEtag(call));
      return result && { product: result.data.products, etag: result.etag };
    },
  });
}

/** Values of the product form. */
export interface ProductValues extends Record<'name' | 'price' | 'description', string> {
  images: EditedImage[];
}

export interface EditedImage {
  /** URL of an existing image, or object URL of a new one. */
  src: string;
  file?: File;
  /** True for an existing image that saving the product removes. */
  isRemoved?: boolean;
}

export async function createProduct(values: ProductValues, onProgress: OnProgress) {
  const client = createProgressClient(onProgress);
  const call = client.POST('/api/products', { body: toBody(values), bodySerializer: asForm });
  return (await dataOf(call)).products;
}

/** Changes a product, unless somebody else has changed it since it was loaded. */
export async function changeProduct(
  { product, etag }: EditedProduct,
  values: ProductValues,
  onProgress: OnProgress,
) {
  const client = createProgressClient(onProgress);
  const removed = values.images.filter(({ isRemoved }) => isRemoved).map(({ src }) => src);
  const call = client.PUT('/api/products/{product_id}', {
    params: { ...productParams(product.id).params, header: toIfMatchHeader(etag) },
    body: { ...toBody(values), 'images.removed[]': removed },
    bodySerializer: asForm,
  });
  return (await dataOf(call)).products;
}

/** Returns true if a product has the values that a form sent. The response of an earlier save may have been lost. */
export function isSaved({ name, price, description, images: stored }: Product, values: ProductValues) {
  const kept = values.images.filter(({ file, isRemoved }) => !file && !isRemoved);
  const added = values.images.filter(({ file }) => file);
  const sources = stored ?? [];
  return (
    name === values.name.trim() &&
    price === Number(values.price) &&
    // A form is sent with line breaks of two characters.
    description?.replaceAll('\r\n', '\n') === values.description.trim() &&
    // New images follow the existing ones.
    sources.length === kept.length + added.length &&
    kept.every(({ src }, index) => src === sources[index])
  );
}

/** Finds a product that has the values of a form. */
export async function findSaved(values: ProductValues) {
  // `Array.from` keeps the characters whole that have two UTF-16 units.
  const q = Array.from(values.name.trim()).slice(0, MAX_SEARCH_LENGTH).join('');
  // A new product is on the last page, because the list is in the order of the ids.
  for (let last_id = 0; ;) {
    const call = dataOf(api.GET('/api/admin/products', { params: { query: { q, last_id } } }));
    const page = await orNullIf404(call);
    const saved = page?.products.find((product) => isSaved(product, values));
    if (page === null || saved !== undefined) return saved;
    last_id = page.meta.lastProductId;
  }
}

function toBody({ images, ...texts }: ProductValues) {
  return { ...texts, images: images.flatMap(({ file }) => file ?? []) };
}

/** Makes a product available or unavailable. With `body.until`, an unavailable product is available again from that date. */
export async function setAvailability(id: number, body: Schemas['AvailabilityDto']) {
  await dataOf(api.PUT('/api/admin/products/{product_id}/availability', { ...productParams(id), body }));
  await reloadProducts();
}

export async function deleteProduct(id: number) {
  await dataOf(api.DELETE('/api/products/{product_id}', productParams(id)));
  await reloadProducts();
}

/** Reloads the lists of products, and removes cached products that no component uses. */
export async function reloadProducts() {
  queryClient.removeQueries({ queryKey: PRODUCTS_KEY, type: 'inactive' });
  await queryClient.invalidateQueries({ queryKey: PRODUCT_LISTS_KEY });
}
