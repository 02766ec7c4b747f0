import { dataOf, type paths } from 'bakery-client';
import { api, listOptions, type AdminProduct, type Schemas } from './client';
import { updateProduct } from './products';

/** Query parameters that search and filter the administrators' product list. */
export type ProductFilter = paths['/api/admin/products']['get']['parameters']['query'];

/** Query options for the administrators' product list, which includes unavailable products. */
export function allProducts(filter: ProductFilter) {
  return listOptions<AdminProduct, number>(['products', 'list', 'all', filter], async (page, signal) => {
    const query = { ...filter, ...page };
    const { products, meta } = await dataOf(api.GET('/api/admin/products', { params: { query }, signal }));
    return { items: products, next: meta.lastProductId };
  });
}

/** Makes a product available or unavailable. With `until`, an unavailable product is available again from that date. */
export async function setAvailability(id: number, body: Schemas['AvailabilityDto']) {
  const params = { path: { product_id: id } };
  const call = api.PUT('/api/admin/products/{product_id}/availability', { params, body });
  updateProduct((await dataOf(call)).product);
}
