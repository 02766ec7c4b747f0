import { dataOf } from 'bakery-client';
import { api, pageOrEnd, type Product } from '../api.js';
import { h } from '../dom.js';
import { count, price } from '../format.js';
import type { Visit } from '../router.js';
import { session } from '../session.js';
import { endlessList, type Loaded } from '../ui/endless-list.js';
import { notice } from '../ui/messages.js';
import { picture } from '../ui/picture.js';
import { welcome } from './welcome.js';

/** What was shown last, so that going back from a product does not begin at the top again. */
let shown: { readonly personId: number; readonly loaded: Loaded<Product> } | undefined;

export function catalog(visit: Visit): HTMLElement {
  const person = session.get();
  if (person === null) return welcome();
  const kept = visit.isReturn && shown?.personId === person.id ? shown.loaded : undefined;
  const loaded: Loaded<Product> = kept ?? { items: [], last: null, isEnded: false };
  shown = { personId: person.id, loaded };
  return h(
    'div',
    { class: 'page' },
    h(
      'header',
      { class: 'page-head hero' },
      h('p', { class: 'eyebrow' }, 'Out of the oven'),
      h('h1', {}, 'Baked before sunrise'),
      h('p', {}, 'Every bread and cake of our kitchen. Order today, pay online, collect it warm.'),
    ),
    productList(loaded, visit.signal),
  );
}

function productList(loaded: Loaded<Product>, signal: AbortSignal): HTMLElement {
  return endlessList<Product>({
    label: 'Products',
    className: 'grid',
    ask: askForProducts(signal),
    drawItem: card,
    skeleton: () =>
      h('div', { class: 'card skeleton' }, h('div', { class: 'picture' }), h('span'), h('span')),
    empty: () =>
      notice({
        icon: 'shop',
        title: 'The shelf is empty',
        text: 'Nothing is baked yet. Come back a little later.',
      }),
    drawEnd: (products) => `That is all we bake: ${count(products, 'product')}.`,
    loaded,
    signal,
  });
}

/** Asks for the page of products after an id; null after the last one. */
export function askForProducts(signal: AbortSignal) {
  return async (last: string | number | null) => {
    const query = last === null ? {} : { last_id: Number(last) };
    const page = await pageOrEnd(dataOf(api.GET('/api/products', { params: { query }, signal })));
    return page === null ? null : { items: page.products, last: page.meta.lastProductId };
  };
}

function card(product: Product): HTMLElement {
  const { id, name, images } = product;
  return h(
    'a',
    { class: 'card', href: `/products/${id}` },
    picture({ id, name, image: images?.[0] ?? null }, ''),
    h('h2', {}, name),
    h('p', { class: 'price' }, price(product.price)),
  );
}
