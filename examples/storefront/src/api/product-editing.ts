import { queryOptions } from '@tanstack/react-query';
import { asForm, dataOf, type paths } from 'bakery-client';
import { type AdminProduct, api, listOptions, orNullIf404, type Product, type Schemas } from './client';
import { LISTS, productPath, PRODUCTS } from './products';
import { queryClient } from './query-client';
import { createProgressClient, type ShowProgress } from './upload-progress';

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

export interface EditedProduct {
  product: Product;
  /** Version that a change sends, so that two people do not overwrite each other. */
  etag: string | null;
}

/** Product with its ETag, or null if no product has this id. For the form that changes the product. */
export function productForEditing(id: number) {
  return queryOptions<EditedProduct | null>({
    queryKey: [...PRODUCTS, 'edited', id],
    gcTime: 0, // A form starts with current values, not with cached ones.
    queryFn: async ({ signal }) => {
      const call = api.GET('/api/products/{product_id}', { ...productPath(id), signal });
      const data = await orNullIf404(dataOf(call));
      return data && { product: data.products, etag: (await call).response.headers.get('ETag') };
    },
  });
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

/** Changes a product unless somebody else has changed it, or creates a product if `edited` is undefined. */
export async function saveProduct(
  edited: EditedProduct | undefined,
  values: ProductValues,
  showProgress: ShowProgress,
) {
  const client = createProgressClient(showProgress);
  const { images, ...texts } = values;
  const body = { ...texts, images: images.flatMap(({ file }) => file ?? []) };
  const removed = images.filter(({ isRemoved }) => isRemoved).map(({ src }) => src);
  const creation = { body, bodySerializer: asForm };
  const change = { body: { ...body, 'images.removed[]': removed }, bodySerializer: asForm };
  const { products: saved } = await (edited === undefined
    ? dataOf(client.POST('/api/products', creation))
    : dataOf(client.PUT('/api/products/{product_id}', { params: toVersionedPath(edited), ...change })));
  await reloadProducts();
  return saved;
}

/** Makes a product available or unavailable. With `body.until`, an unavailable product is available again from that date. */
export async function setAvailability(id: number, body: Schemas['AvailabilityDto']) {
  const call = api.PUT('/api/admin/products/{product_id}/availability', { ...productPath(id), body });
  await dataOf(call);
  await reloadProducts();
}

export async function deleteProduct(id: number) {
  await dataOf(api.DELETE('/api/products/{product_id}', productPath(id)));
  await reloadProducts();
}

function toVersionedPath({ product, etag }: EditedProduct) {
  return { ...productPath(product.id).params, ...(etag !== null && { header: { 'If-Match': etag } }) };
}

/** Reloads the list of products if it is shown, and forgets all other cached products. */
async function reloadProducts() {
  queryClient.removeQueries({ queryKey: PRODUCTS, type: 'inactive' });
  await queryClient.invalidateQueries({ queryKey: LISTS });
}
