import { dataOf } from 'bakery-client';
import { api, explain, hasCode, type Order } from '../api.js';
import { cart, type CartLine } from '../cart.js';
import { fill, h, webAddress } from '../dom.js';
import { count, price } from '../format.js';
import { go, type Visit } from '../router.js';
import { notice, toast } from '../ui/messages.js';
import { picture } from '../ui/picture.js';
import { quantityPicker } from '../ui/quantity.js';
import { idempotencyKey, orderIsMade } from './checkout-key.js';

export function cartPage({ signal }: Visit): HTMLElement {
  const place = h('div', {});
  const alert = h('div', { role: 'alert' });
  const gone = new Set<number>();
  let drawn = '';
  const draw = (): void => {
    // Pieces change under the person's hands: the row stays, with the focus that is in it.
    const rows = JSON.stringify([cart.lines().map(({ id, name, price }) => [id, name, price]), [...gone]]);
    const isSame = rows === drawn && cart.lines().length > 0;
    drawn = rows;
    if (isSame) refresh(place);
    else fill(place, cart.lines().length === 0 ? empty() : filled(alert, gone, draw));
  };
  draw();
  cart.watch(draw, signal);
  void checkCatalog(signal, gone).then(draw);
  return h('div', { class: 'page' }, h('header', { class: 'page-head' }, h('h1', {}, 'Your cart')), place);
}

function empty(): HTMLElement {
  return notice({
    icon: 'cart',
    title: 'Nothing in it yet',
    text: 'Pick something that smells good.',
    actions: [h('a', { class: 'button', href: '/' }, 'See what we bake')],
  });
}

function filled(alert: HTMLElement, gone: ReadonlySet<number>, redraw: () => void): HTMLElement {
  const button = h('button', { class: 'button wide', type: 'button' }, 'Order and pay');
  let isOrdering = false;
  button.addEventListener('click', () => {
    if (isOrdering) return;
    isOrdering = true;
    button.classList.add('busy');
    fill(alert);
    void checkOut(alert).finally(() => {
      isOrdering = false;
      button.classList.remove('busy');
      redraw();
    });
  });
  return h(
    'div',
    { class: 'cart' },
    h(
      'ul',
      { class: 'lines', 'aria-label': 'Products in your cart' },
      cart.lines().map((line) => row(line, gone.has(line.id))),
    ),
    h(
      'section',
      { class: 'panel summary', 'aria-label': 'Summary' },
      h(
        'p',
        { class: 'sum' },
        h('span', { 'data-pieces': true }, pieces()),
        h('strong', { 'data-total': true }, price(cart.total())),
      ),
      h('p', { class: 'hint' }, 'You pay on the page of our payment partner, which opens in a new tab.'),
      alert,
      button,
    ),
  );
}

function row(line: CartLine, isGone: boolean): HTMLElement {
  const picker = quantityPicker(line.name, line.quantity, (quantity) => {
    cart.setQuantity(line.id, quantity);
  });
  return h(
    'li',
    { class: 'line', 'data-line': line.id },
    picture(line, ''),
    h(
      'div',
      { class: 'line-text' },
      h('a', { href: `/products/${line.id}` }, line.name),
      isGone
        ? h('p', { class: 'complaint' }, 'We do not bake this any more: please remove it.')
        : h('p', { class: 'hint' }, `${price(line.price)} each`),
    ),
    picker.node,
    h('p', { class: 'price', 'data-sum': true }, price(Math.round(line.price) * line.quantity)),
    h(
      'button',
      {
        class: 'link',
        type: 'button',
        'aria-label': `Remove ${line.name}`,
        on: {
          click: () => {
            cart.remove(line.id);
            toast(`${line.name} is no longer in your cart.`);
          },
        },
      },
      'Remove',
    ),
  );
}

/** Numbers anew in the rows that are there. */
function refresh(place: HTMLElement): void {
  for (const line of cart.lines()) {
    const node = place.querySelector(`[data-line="${line.id}"]`);
    const input = node?.querySelector('input');
    if (input instanceof HTMLInputElement) input.value = String(line.quantity);
    const sum = node?.querySelector('[data-sum]');
    if (sum instanceof Element) fill(sum, price(Math.round(line.price) * line.quantity));
  }
  const [total, number] = [place.querySelector('[data-total]'), place.querySelector('[data-pieces]')];
  if (total !== null) fill(total, price(cart.total()));
  if (number !== null) fill(number, pieces());
}

function pieces(): string {
  return `Total, ${count(cart.pieces(), 'piece')}`;
}

/** Takes over what has changed in the catalog since. Whatever cannot be asked for stays as it is. */
async function checkCatalog(signal: AbortSignal, gone: Set<number>): Promise<void> {
  const checks = cart.lines().map(async ({ id, price: known }) => {
    try {
      const path = { product_id: id };
      const { products } = await dataOf(api.GET('/api/products/{product_id}', { params: { path }, signal }));
      cart.update(products);
      if (products.price !== known) toast(`${products.name} now costs ${price(products.price)}.`);
    } catch (error) {
      if (hasCode(error, 404)) gone.add(id);
      // Anything else is told when the order is made.
    }
  });
  await Promise.all(checks);
}

async function checkOut(alert: HTMLElement): Promise<void> {
  const items = cart.lines().map(({ id, quantity }) => ({ product_id: id, quantity }));
  try {
    const { order } = await dataOf(
      api.POST('/api/orders', {
        params: { header: { 'Idempotency-Key': idempotencyKey(items) } },
        body: { items },
      }),
    );
    orderIsMade();
    cart.clear();
    openPaymentPage(order);
    go(`/orders/${order.order_id}`);
  } catch (error) {
    const text = hasCode(error, 404)
      ? 'A product in your cart is no longer baked. Please remove it.'
      : explain(error);
    fill(alert, h('p', { class: 'alert' }, text));
  }
}

/** In a new tab; if the browser forbids it, the order's page has a link. */
function openPaymentPage({ redirect_url }: Order): void {
  const address = redirect_url === null ? null : webAddress(redirect_url);
  if (address !== null) window.open(address, '_blank', 'noopener');
}
