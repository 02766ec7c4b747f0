import { dataOf } from 'bakery-client';
import { api, hasCode, type Product } from '../api.js';
import { cart, MAX_PRODUCTS } from '../cart.js';
import { fill, h } from '../dom.js';
import { count, price } from '../format.js';
import type { Visit } from '../router.js';
import { session } from '../session.js';
import { bars, load } from '../ui/loading.js';
import { notice, toast } from '../ui/messages.js';
import { picture } from '../ui/picture.js';
import { quantityPicker } from '../ui/quantity.js';

export function productPage({ params, signal }: Visit): HTMLElement {
  const place = h('div', {});
  load(place, {
    skeleton: [
      h('h1', { class: 'hidden' }, 'Product'),
      h('div', { class: 'product skeleton' }, h('div', { class: 'picture' }), bars(5)),
    ],
    ask: async () => {
      const path = { product_id: Number(params.id) };
      return (await dataOf(api.GET('/api/products/{product_id}', { params: { path }, signal }))).products;
    },
    draw: (product) => {
      document.title = document.title.replace(/^[^·]*/, `${product.name} `);
      return details(product);
    },
    drawFailure: (error) => (hasCode(error, 404) ? gone() : undefined),
    signal,
  });
  return h('div', { class: 'page' }, h('a', { class: 'back', href: '/' }, '← All products'), place);
}

function details(product: Product): HTMLElement {
  let quantity = 1;
  const add = (): void => {
    if (!cart.add(product, quantity)) toast(`An order can hold ${MAX_PRODUCTS} different products.`);
    else toast(`${product.name} is in your cart: ${count(cart.pieces(), 'piece')} in all.`);
  };
  const picker = quantityPicker(product.name, quantity, (chosen) => {
    quantity = chosen;
  });
  return h(
    'article',
    { class: 'product' },
    gallery(product),
    h(
      'div',
      { class: 'product-text' },
      h('h1', {}, product.name),
      h('p', { class: 'price large' }, price(product.price)),
      product.description !== null && h('p', { class: 'description' }, product.description),
      h(
        'div',
        { class: 'buy' },
        picker.node,
        h('button', { class: 'button', type: 'button', on: { click: add } }, 'Add to cart'),
      ),
      session.get()?.role === 'ADMIN' &&
        h('a', { class: 'back', href: `/manage/products/${product.id}` }, 'Edit this product'),
    ),
  );
}

/** The first picture large; the others as buttons that make them so. */
function gallery({ id, name, images }: Product): HTMLElement {
  const all = images ?? [];
  const alt = (index: number): string =>
    all.length === 1 ? name : `${name}, picture ${index + 1} of ${all.length}`;
  const stage = h('div', { class: 'stage' }, picture({ id, name, image: all[0] ?? null }, alt(0), true));
  const buttons = all.map((image, index) =>
    h(
      'button',
      {
        type: 'button',
        'aria-label': `Show picture ${index + 1} of ${all.length}`,
        'aria-pressed': String(index === 0),
        on: {
          click: () => {
            fill(stage, picture({ id, name, image }, alt(index), true));
            for (const [other, button] of buttons.entries())
              button.setAttribute('aria-pressed', String(other === index));
          },
        },
      },
      picture({ id, name, image }, ''),
    ),
  );
  return h('div', { class: 'gallery' }, stage, all.length > 1 && h('div', { class: 'thumbnails' }, buttons));
}

function gone(): HTMLElement[] {
  return [
    h('h1', { class: 'hidden' }, 'Product not found'),
    notice({
      icon: 'shop',
      title: 'We do not bake this any more',
      text: 'The product is not in the catalog.',
      actions: [h('a', { class: 'button', href: '/' }, 'See what we bake')],
    }),
  ];
}
