import { dataOf } from 'bakery-client';
import { api, explain, type Product } from '../api.js';
import { h } from '../dom.js';
import { count, price } from '../format.js';
import type { Visit } from '../router.js';
import { endlessList } from '../ui/endless-list.js';
import { bars } from '../ui/loading.js';
import { confirmed, notice, toast } from '../ui/messages.js';
import { picture } from '../ui/picture.js';
import { askForProducts } from './catalog.js';
import { manageHead } from './manage-head.js';

export function manageProductsPage({ signal }: Visit): HTMLElement {
  const create = (): HTMLElement => h('a', { class: 'button', href: '/manage/products/new' }, 'New product');
  return h(
    'div',
    { class: 'page narrow' },
    manageHead('Products', create()),
    endlessList<Product>({
      label: 'Products',
      className: 'rows',
      ask: askForProducts(signal),
      drawItem: productRow,
      skeleton: () => h('div', { class: 'row' }, bars(2)),
      empty: () =>
        notice({
          icon: 'picture',
          title: 'No products yet',
          text: 'Put the first one on the shelf.',
          actions: [create()],
        }),
      drawEnd: (products) => `${count(products, 'product')} in all.`,
      signal,
    }),
  );
}

function productRow(product: Product): HTMLElement {
  const { id, name, images } = product;
  const row = h(
    'div',
    { class: 'row' },
    picture({ id, name, image: images?.[0] ?? null }, ''),
    h(
      'span',
      { class: 'row-main' },
      h('strong', {}, name),
      h('small', {}, count(images?.length ?? 0, 'picture')),
    ),
    h('span', { class: 'price' }, price(product.price)),
    h(
      'span',
      { class: 'row-actions' },
      h(
        'a',
        { class: 'button quiet small', href: `/manage/products/${id}`, 'aria-label': `Edit ${name}` },
        'Edit',
      ),
      h(
        'button',
        {
          class: 'button quiet small',
          type: 'button',
          'aria-label': `Delete ${name}`,
          on: {
            click: () => {
              void deleteProduct(product).then((isDeleted) => {
                if (isDeleted) row.closest('li')?.remove();
              });
            },
          },
        },
        'Delete',
      ),
    ),
  );
  return row;
}

/** Asks first. @returns whether the product is gone */
export async function deleteProduct({ id, name }: Product): Promise<boolean> {
  const text = 'Its pictures go with it. Orders that hold it stay as they are.';
  if (!(await confirmed(`Delete ${name}?`, text, 'Delete it'))) return false;
  try {
    await dataOf(api.DELETE('/api/products/{product_id}', { params: { path: { product_id: id } } }));
    toast(`${name} is deleted.`);
    return true;
  } catch (error) {
    toast(explain(error));
    return false;
  }
}
