import { expectOrder, pageOf, readOrder, userIdOf } from './support/orders.js';
import { useShop } from './support/shop.js';

/** Names of the customers by email. */
const CUSTOMERS: Readonly<Record<string, string>> = {
  'wayan.sudana@example.com': 'Wayan Sudana',
  'elodie@example.org': 'Élodie Faßbender',
  'percent@example.net': '100% _Bread_ O\'Hara "Q" \\o/',
};

const shop = await useShop();
/** Ids of the orders by the email of their customer: two for each customer, newest first. */
const orderIds: Record<string, readonly string[]> = {};

for (const [email, fullname] of Object.entries(CUSTOMERS)) {
  const customer = shop.service.client();
  await customer.register({ email, fullname }).expect(201);
  orderIds[email] = await shop.insertOrdersWithoutPages(customer, 2);
}

describe('GET /api/admin/orders?q=', () => {
  it.each([
    ['Wayan Sudana', 'wayan.sudana@example.com'],
    ['AYAN sud', 'wayan.sudana@example.com'],
    ['  wayan  ', 'wayan.sudana@example.com'],
    ['SUDANA@EXAMPLE', 'wayan.sudana@example.com'],
    ['éLODIE', 'elodie@example.org'],
    ['%', 'percent@example.net'],
    ['_', 'percent@example.net'],
    ['\\', 'percent@example.net'],
    ['o\'hara "q"', 'percent@example.net'],
  ])('finds the orders of a customer by a part of name or email: %s', async (q, email) => {
    expect(await shop.listAsAdmin({ q })).toEqual(orderIds[email]);
  });

  // A number without digits, words in another order, wildcards of LIKE, SQL, and the longest text that is allowed.
  it.each(['#', 'sudana wayan', '%wayan%', 'wa_an', "' OR 1=1 --", 'x'.repeat(100)])(
    'finds no order for %s',
    async (q) => {
      expect(await shop.listAsAdmin({ q })).toEqual([]);
    },
  );

  it('finds an order by the beginning of its id, in upper or lower case, but not by a later part', async () => {
    const [orderId = ''] = orderIds['elodie@example.org'] ?? [];
    const number = `#${orderId.slice(0, 8).toUpperCase()}`;
    for (const q of [orderId, orderId.slice(0, 13), orderId.slice(0, 12).toUpperCase(), number])
      expect(await shop.listAsAdmin({ q })).toEqual([orderId]);
    expect(await shop.listAsAdmin({ q: orderId.slice(12) })).toEqual([]);
  });

  it('finds an order by digits of its phone number, with any spaces and signs', async () => {
    const [orderId = ''] = orderIds['wayan.sudana@example.com'] ?? [];
    await shop.query('UPDATE orders SET phone = $2 WHERE order_id = $1', [orderId, '+62 (812) 3456-7890']);
    for (const q of ['+62 812-3456 7890', '628123456', '34567890', '(812)'])
      expect(await shop.listAsAdmin({ q })).toEqual([orderId]);
    for (const q of ['08123456', '7890 x', '+-()']) expect(await shop.listAsAdmin({ q })).toEqual([]);
  });

  it('lists all orders for an empty text or only spaces', async () => {
    for (const q of ['', '   '])
      expect(new Set(await shop.listAsAdmin({ q }))).toEqual(new Set(Object.values(orderIds).flat()));
  });

  it('can be combined with status, fulfilment and last_id', async () => {
    const [newest = '', oldest = ''] = orderIds['wayan.sudana@example.com'] ?? [];
    const search = (filters: Record<string, string>) => shop.listAsAdmin({ q: 'wayan', ...filters });
    expect(await search({ status: 'pending', fulfilment: 'new' })).toEqual([newest, oldest]);
    expect(await search({ last_id: newest })).toEqual([oldest]);
    for (const filter of [{ last_id: oldest }, { status: 'settlement' }, { fulfilment: 'ready' }])
      expect(await search(filter)).toEqual([]);
  });
});

it('administrators see id, name and email of the customer in the list and in the order; the customer does not', async () => {
  const client = shop.service.client();
  const identity = { fullname: 'Ketut Dharma', email: 'ketut@example.com' };
  await client.register(identity).expect(201);
  const [orderId = ''] = await shop.insertOrdersWithoutPages(client, 1);
  const ownView = await readOrder(client, orderId);
  expect(ownView).not.toHaveProperty('customer');
  const adminView = { ...ownView, customer: { id: userIdOf(client), ...identity }, refund_due: false };
  const { orders } = pageOf(await shop.admin.get(`/api/admin/orders?q=${orderId}`).expect(200));
  expect(orders).toEqual([adminView]);
  expect((await shop.readAsAdmin(orderId)).order).toEqual(adminView);
});

it('GET /api/admin/orders filters orders by paid=true, paid=false and refund=due', async () => {
  await shop.query('TRUNCATE orders CASCADE');
  const paid = await shop.orderTwoPieces();
  const due = await shop.orderTwoPieces();
  const challenged = await shop.orderTwoPieces();
  const pending = await shop.orderTwoPieces();
  const refunded = await shop.orderTwoPieces();
  for (const orderId of [paid, due, refunded])
    await shop.setStatusAndNotify(orderId, 'settlement', { paymentType: 'qris' });
  await shop.setStatusAndNotify(challenged, 'capture', {
    paymentType: 'credit_card',
    fraudStatus: 'challenge',
  });
  for (const orderId of [due, refunded]) expectOrder(await shop.setFulfilment(orderId, 'refused'));
  await shop.requestRefund(refunded);

  expect(await shop.listAsAdmin({ paid: 'true' })).toEqual([due, paid]);
  expect(await shop.listAsAdmin({ paid: 'false' })).toEqual([refunded, pending, challenged]);
  expect(await shop.listAsAdmin({ refund: 'due' })).toEqual([due]);
  expect(await shop.listAsAdmin({ paid: 'true', fulfilment: 'new' })).toEqual([paid]);
  expect(await shop.listAsAdmin({ paid: 'true', last_id: due })).toEqual([paid]);
});
