import { dataOf } from 'bakery-client';
import { api, type Order, pageOrEnd } from '../api.js';
import { h } from '../dom.js';
import { count, price, time } from '../format.js';
import type { Visit } from '../router.js';
import { endlessList } from '../ui/endless-list.js';
import { bars } from '../ui/loading.js';
import { notice } from '../ui/messages.js';
import { statusBadge } from '../ui/order-status.js';

export function ordersPage({ signal }: Visit): HTMLElement {
  return h(
    'div',
    { class: 'page narrow' },
    h('header', { class: 'page-head' }, h('h1', {}, 'Your orders')),
    endlessList<Order>({
      label: 'Orders, newest first',
      className: 'rows',
      ask: async (last) => {
        const query = last === null ? {} : { last_id: String(last) };
        const page = await pageOrEnd(dataOf(api.GET('/api/orders', { params: { query }, signal })));
        return page === null ? null : { items: page.orders, last: page.meta.lastOrderId };
      },
      drawItem: orderRow,
      skeleton: () => h('div', { class: 'row' }, bars(2)),
      empty: () =>
        notice({
          icon: 'orders',
          title: 'No orders yet',
          text: 'What you order will stand here.',
          actions: [h('a', { class: 'button', href: '/' }, 'See what we bake')],
        }),
      drawEnd: (orders) => `${count(orders, 'order')} in all.`,
      signal,
    }),
  );
}

/** An order in a list, as a link to its page. */
export function orderRow(order: Order): HTMLElement {
  const names = order.items.map(({ name, quantity }) => `${quantity} × ${name}`).join(', ');
  return h(
    'a',
    { class: 'row', href: `/orders/${order.order_id}` },
    h('span', { class: 'row-main' }, h('strong', {}, names), h('small', {}, time(order.created_at))),
    statusBadge(order.status),
    h('span', { class: 'price' }, price(order.gross_amount)),
  );
}
