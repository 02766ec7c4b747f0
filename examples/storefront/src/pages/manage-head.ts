import { type Child, h } from '../dom.js';

const PLACES = [
  ['/manage/products', 'Products'],
  ['/manage/orders', 'Orders'],
] as const;

/** Head of the administrators' pages, with the way between them. */
export function manageHead(title: string, action?: Child): HTMLElement {
  return h(
    'header',
    { class: 'page-head manage-head' },
    h(
      'nav',
      { class: 'tabs', 'aria-label': 'Manage' },
      PLACES.map(([href, label]) =>
        h('a', { href, 'aria-current': location.pathname.startsWith(href) && 'page' }, label),
      ),
    ),
    h('div', { class: 'title-line' }, h('h1', {}, title), action),
  );
}
