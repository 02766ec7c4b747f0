import { cart } from '../cart.js';
import { fill, h, svg } from '../dom.js';
import { count } from '../format.js';
import { session } from '../session.js';
import { signOut } from '../sign-out.js';
import { icon, type IconName } from './icons.js';
import { toasts } from './messages.js';

interface Shell {
  readonly node: HTMLElement;
  /** Where pages stand. */
  readonly outlet: HTMLElement;
  /** Marks where the person is. */
  readonly moved: () => void;
}

/** What stands around every page: the shop's name, ways to its parts, a note while offline. */
export function shell(): Shell {
  const nav = h('nav', { class: 'main-nav', 'aria-label': 'Shop' });
  const account = h('div', { class: 'account' });
  const banner = h('div', { role: 'status', class: 'offline-place' });
  const outlet = h('main', { id: 'main', tabindex: -1 });

  const moved = (): void => {
    const person = session.get();
    fill(
      nav,
      person !== null && [
        place('/', 'Shop', 'shop'),
        place('/orders', 'Orders', 'orders'),
        cartPlace(),
        person.role === 'ADMIN' && place('/manage/products', 'Manage', 'manage', '/manage'),
        place('/profile', 'Account', 'person'),
      ],
    );
    fill(
      account,
      person === null
        ? h('a', { href: '/login', class: 'button quiet small' }, 'Sign in')
        : [
            h('span', { class: 'who' }, person.fullname),
            h('button', { class: 'link', type: 'button', on: { click: () => void signOut() } }, 'Sign out'),
          ],
    );
  };
  const showOffline = (): void => {
    fill(
      banner,
      !navigator.onLine &&
        h(
          'p',
          { class: 'offline' },
          icon('offline'),
          'You are offline. Your cart is safe; we go on when you are back.',
        ),
    );
  };
  window.addEventListener('online', showOffline);
  window.addEventListener('offline', showOffline);
  showOffline();
  cart.watch(moved);
  session.watch(moved);

  return {
    node: h(
      'div',
      { class: 'shell' },
      h('header', { class: 'top' }, h('a', { class: 'brand', href: '/' }, logo(), 'Roti Pagi'), nav, account),
      banner,
      outlet,
      h(
        'footer',
        { class: 'bottom' },
        h('p', {}, 'Roti Pagi, an example storefront of the bakery catalog service.'),
      ),
      toasts,
    ),
    outlet,
    moved,
  };
}

function place(href: string, label: string, name: IconName, under = href): HTMLElement {
  const here = location.pathname;
  const isHere = under === '/' ? here === '/' || here.startsWith('/products') : here.startsWith(under);
  return h('a', { href, 'aria-current': isHere && 'page' }, icon(name), h('span', {}, label));
}

function cartPlace(): HTMLElement {
  const pieces = cart.pieces();
  const link = place('/cart', 'Cart', 'cart');
  if (pieces > 0) {
    link.append(
      h('span', { class: 'pieces', 'aria-hidden': 'true' }, pieces > 99 ? '99+' : pieces),
      h('span', { class: 'hidden' }, `, ${count(pieces, 'piece')}`),
    );
  }
  return link;
}

function logo(): SVGElement {
  return svg(
    'svg',
    { viewBox: '0 0 32 24', class: 'logo', 'aria-hidden': 'true' },
    svg('path', { d: 'M3 17C3 8 9 2.500 16 2.500S29 8 29 17Z', class: 'crust' }),
    svg('path', { d: 'M10 7.500l1.800 5.500M16 5.500v7M22 7.500 20.200 13', class: 'line' }),
    svg('rect', { x: 1.5, y: 18.5, width: 29, height: 3, rx: 1.5, class: 'crust' }),
  );
}
