import { dataOf } from 'bakery-client';
import { api, type Order, type OrderStatus, pageOrEnd } from '../api.js';
import { h } from '../dom.js';
import { count } from '../format.js';
import { go, type Visit } from '../router.js';
import { endlessList } from '../ui/endless-list.js';
import { bars } from '../ui/loading.js';
import { notice } from '../ui/messages.js';
import { STATUS } from '../ui/order-status.js';
import { manageHead } from './manage-head.js';
import { orderRow } from './orders.js';

export function manageOrdersPage({ query, signal }: Visit): HTMLElement {
  const status = statusOf(query.get('status'));
  return h(
    'div',
    { class: 'page narrow' },
    manageHead('Orders', filter(status)),
    endlessList<Order>({
      label: 'Orders, newest first',
      className: 'rows',
      ask: async (last) => {
        const wanted = {
          ...(status !== null && { status }),
          ...(last !== null && { last_id: String(last) }),
        };
        const page = await pageOrEnd(
          dataOf(api.GET('/api/admin/orders', { params: { query: wanted }, signal })),
        );
        return page === null ? null : { items: page.orders, last: page.meta.lastOrderId };
      },
      drawItem: orderRow,
      skeleton: () => h('div', { class: 'row' }, bars(2)),
      empty: () =>
        notice({
          icon: 'orders',
          title: 'No orders here',
          text: status === null ? 'Nobody has ordered yet.' : `No order is “${STATUS[status].label}”.`,
        }),
      drawEnd: (orders) => `${count(orders, 'order')} in all.`,
      signal,
    }),
  );
}

function filter(status: OrderStatus | null): HTMLElement {
  const select = h(
    'select',
    {
      on: {
        change: () => {
          go(select.value === '' ? '/manage/orders' : `/manage/orders?status=${select.value}`);
        },
      },
    },
    h('option', { value: '' }, 'All'),
    Object.entries(STATUS).map(([value, { label }]) =>
      // Two states are both "Paid" to a customer.
      h('option', { value, selected: value === status }, value === 'capture' ? `${label} (captured)` : label),
    ),
  );
  return h('label', { class: 'filter' }, h('span', {}, 'Status'), select);
}

function statusOf(text: string | null): OrderStatus | null {
  return text !== null && Object.hasOwn(STATUS, text) ? (text as OrderStatus) : null;
}
