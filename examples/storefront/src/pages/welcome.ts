import { h } from '../dom.js';
import { picture } from '../ui/picture.js';

/** What a visitor sees: the catalog is for people with an account. */
export function welcome(): HTMLElement {
  const drawn = ['Croissant', 'Roti', 'Kue lapis', 'Donat'].map((name, id) =>
    picture({ id: id + 1, name, image: null }, ''),
  );
  return h(
    'div',
    { class: 'page welcome' },
    h(
      'div',
      {},
      h('p', { class: 'eyebrow' }, 'Roti Pagi, Yogyakarta'),
      h('h1', {}, 'Bread that was dough an hour ago'),
      h(
        'p',
        { class: 'lead' },
        'Sourdough, kue lapis, croissants: made by hand through the night, yours before breakfast.',
      ),
      h(
        'div',
        { class: 'actions' },
        h('a', { class: 'button', href: '/register' }, 'Create an account'),
        h('a', { class: 'button quiet', href: '/login' }, 'Sign in'),
      ),
    ),
    h('div', { class: 'welcome-pictures', 'aria-hidden': 'true' }, drawn),
  );
}
