import { dataOf } from 'bakery-client';
import { api, explain, hasCode, type Order } from '../api.js';
import { type Child, fill, h, webAddress } from '../dom.js';
import { price, time } from '../format.js';
import type { Visit } from '../router.js';
import { icon } from '../ui/icons.js';
import { bars, load } from '../ui/loading.js';
import { confirmed, notice } from '../ui/messages.js';
import { isOpen, STATUS } from '../ui/order-status.js';
import { poll } from '../poll.js';

export function orderPage({ params, signal }: Visit): HTMLElement {
  const place = h('div', {});
  const orderId = params.id ?? '';
  load(place, {
    skeleton: [h('h1', { class: 'hidden' }, 'Order'), bars(6)],
    ask: () => read(orderId, signal),
    draw: (order) => following(order, signal),
    drawFailure: (error) =>
      hasCode(error, 404)
        ? [
            h('h1', { class: 'hidden' }, 'Order not found'),
            notice({
              icon: 'orders',
              title: 'There is no such order',
              text: 'Maybe it is on another account.',
            }),
          ]
        : undefined,
    signal,
  });
  return h(
    'div',
    { class: 'page narrow' },
    h('a', { class: 'back', href: '/orders' }, '← Your orders'),
    place,
  );
}

async function read(orderId: string, signal: AbortSignal): Promise<Order> {
  const path = { order_id: orderId };
  return (await dataOf(api.GET('/api/orders/{order_id}', { params: { path }, signal }))).order;
}

/** The order, asked for again until it is paid or over. */
function following(first: Order, signal: AbortSignal): HTMLElement {
  let order = first;
  const state = h('div', { role: 'status', class: 'order-state' });
  const actions = h('div', {});
  const show = (now: Order, isChanged: boolean): void => {
    order = now;
    if (!isChanged) return;
    fill(state, stateOf(order));
    fill(
      actions,
      actionsOf(order, signal, (changed) => {
        show(changed, true);
      }),
    );
  };
  show(order, true);
  if (isOpen(order.status)) {
    poll(signal, async () => {
      const now = await read(order.order_id, signal);
      show(now, now.status !== order.status || now.redirect_url !== order.redirect_url);
      return isOpen(now.status);
    });
  }
  return h('article', { class: 'order' }, state, actions, receipt(order));
}

function stateOf({ status }: Order): Child {
  const { label, text, tone, icon: name } = STATUS[status];
  return h('div', { class: `state ${tone}` }, icon(name), h('div', {}, h('h1', {}, label), h('p', {}, text)));
}

function actionsOf(order: Order, signal: AbortSignal, changed: (order: Order) => void): Child {
  if (order.status !== 'pending') return null;
  const alert = h('div', { role: 'alert' });
  const attempt = (work: () => Promise<void>) => (): void => {
    fill(alert);
    work().catch((error: unknown) => {
      if (!signal.aborted) fill(alert, h('p', { class: 'alert' }, explain(error)));
    });
  };
  const params = { path: { order_id: order.order_id } };
  const cancel = attempt(async () => {
    if (!(await confirmed('Cancel this order?', 'It will not be baked.', 'Cancel the order'))) return;
    changed((await dataOf(api.POST('/api/orders/{order_id}/cancel', { params }))).order);
  });
  const renew = attempt(async () => {
    const { token, redirect_url } = await dataOf(api.POST('/api/orders/{order_id}/token', { params }));
    changed({ ...order, token, redirect_url });
  });
  const address = order.redirect_url === null ? null : webAddress(order.redirect_url);
  return [
    h(
      'div',
      { class: 'actions' },
      address === null
        ? h('button', { class: 'button', type: 'button', on: { click: renew } }, 'Get a payment page')
        : h(
            'a',
            { class: 'button', href: address, target: '_blank', rel: 'noopener' },
            'Go to the payment page ',
            icon('away'),
            h('span', { class: 'hidden' }, '(new tab)'),
          ),
      h('button', { class: 'button quiet', type: 'button', on: { click: cancel } }, 'Cancel order'),
    ),
    alert,
  ];
}

function receipt(order: Order): HTMLElement {
  return h(
    'section',
    { class: 'panel receipt', 'aria-labelledby': 'receipt' },
    h('h2', { id: 'receipt' }, 'Receipt'),
    h('p', { class: 'hint' }, `Order ${order.order_id}`),
    h('p', { class: 'hint' }, `Placed on ${time(order.created_at)}`),
    h(
      'table',
      {},
      h(
        'thead',
        { class: 'hidden' },
        h('tr', {}, h('th', { scope: 'col' }, 'Product'), h('th', { scope: 'col' }, 'Sum')),
      ),
      h(
        'tbody',
        {},
        order.items.map((item) =>
          h(
            'tr',
            {},
            h('td', {}, item.name, h('small', {}, `${item.quantity} × ${price(item.price)}`)),
            h('td', {}, price(item.price * item.quantity)),
          ),
        ),
      ),
      h('tfoot', {}, h('tr', {}, h('th', { scope: 'row' }, 'Total'), h('td', {}, price(order.gross_amount)))),
    ),
  );
}
