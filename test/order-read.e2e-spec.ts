import { randomUUID } from 'node:crypto';
import type { Client } from './support/client.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { orderOf, ORDERS, pageOf, placeOrder, readOrder, userIdOf } from './support/orders.js';
import { insertProduct } from './support/products.js';
import { useShop } from './support/shop.js';

const ADMIN_ORDERS = '/api/admin/orders';
const STATUS_MESSAGE =
  'status should be one of capture, settlement, pending, deny, cancel, expire, failure, refund, partial_refund, ' +
  'authorize';
const FULFILMENT_MESSAGE = 'fulfilment should be one of new, preparing, ready, collected, refused';
const DATE_MESSAGE = 'pickup should be a date, such as 2026-11-24';

const shop = await useShop();
let customer: Client;

beforeEach(async () => {
  customer = await shop.service.customer();
});

/** Reads a list page by page up to the final 404. Returns the ids of the orders and the size of each page. */
async function readPages(client: Client, path: string, query = '') {
  const ids: string[] = [];
  const sizes: number[] = [];
  let cursor = '';
  for (;;) {
    const response = await client.get(`${path}?${query}${cursor}`);
    if (response.status === 404) {
      expectFailure(response, 404, MESSAGES.notFound);
      return { ids, sizes };
    }
    const { meta, orders } = pageOf(response);
    ids.push(...orders.map(({ order_id }) => order_id));
    sizes.push(orders.length);
    expect(meta).toEqual({ lastOrderId: ids.at(-1) });
    cursor = `&last_id=${meta.lastOrderId}`;
  }
}

describe('GET /api/orders', () => {
  it('lists 120 own orders newest first, in pages of 50, also orders that were created at the same instant', async () => {
    const newestFirst = await shop.insertOrdersWithoutPages(customer, 120);
    expect(await readPages(customer, ORDERS)).toEqual({ ids: newestFirst, sizes: [50, 50, 20] });
    await shop.query('UPDATE orders SET created_at = now() WHERE user_id = $1', [userIdOf(customer)]);
    const ids = await shop.readStoredOrderIds(customer); // sorted by descending id within an instant
    expect(await readPages(customer, ORDERS)).toEqual({ ids, sizes: [50, 50, 20] });
  });

  it('returns only the orders of the customer, each with the same content as the response for the single order', async () => {
    const otherCustomer = await shop.service.customer();
    const cakes = { product_id: shop.productId, quantity: 1 };
    const rolls = { product_id: await insertProduct(shop.service), quantity: 2 };
    await placeOrder(otherCustomer, [cakes]);
    const first = await placeOrder(customer, [cakes]);
    const second = await placeOrder(customer, [rolls, cakes]);
    await shop.setStatusAndNotify(first.order_id, 'settlement');
    const paid = await readOrder(customer, first.order_id);
    expect(paid).toMatchObject({ status: 'settlement', token: null, redirect_url: null });
    const response = await customer.get(ORDERS).expect(200);
    expect(response.body).toEqual({
      status: 'success',
      data: { meta: { lastOrderId: first.order_id }, orders: [second, paid] },
    });
  });

  it('returns 404 if last_id is the oldest order, an unknown order or an order of another customer', async () => {
    const ids = await shop.insertOrdersWithoutPages(customer, 2);
    const [foreign] = await shop.insertOrdersWithoutPages(await shop.service.customer(), 1);
    for (const lastId of [ids[1], foreign, randomUUID()])
      expectFailure(await customer.get(`${ORDERS}?last_id=${lastId}`), 404, MESSAGES.notFound);
  });

  it.each(['', '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a110', '1%00'])(
    'rejects last_id=%s with 400, because it is not a UUID',
    async (lastId) => {
      const details = { last_id: 'last_id should be the id of an order' };
      expectInvalid(await customer.get(`${ORDERS}?last_id=${lastId}`), details);
    },
  );
});

describe('GET /api/orders/{order_id}', () => {
  it('returns the same order to its customer and to an administrator, also for an id in upper case', async () => {
    const created = await placeOrder(customer, [{ product_id: shop.productId, quantity: 2 }]);
    for (const reader of [customer, shop.admin])
      for (const id of [created.order_id, created.order_id.toUpperCase()])
        expect(await readOrder(reader, id)).toEqual(created);
  });

  it('returns 304 for the ETag of an unchanged order, and a changed order with another ETag', async () => {
    const orderId = await shop.orderTwoPieces();
    const path = `${ORDERS}/${orderId}`;
    const first = await shop.customer.get(path).expect(200);
    const etag = String(first.headers.etag);
    const unchanged = await shop.customer.get(path).set('If-None-Match', etag).expect(304);
    expect([unchanged.text, unchanged.headers.etag]).toEqual(['', etag]);

    await shop.setStatusAndNotify(orderId, 'settlement');
    const changed = await shop.customer.get(path).set('If-None-Match', etag).expect(200);
    expect(orderOf(changed)).toMatchObject({ status: 'settlement', token: null });
    expect(changed.headers.etag).not.toBe(etag);
  });
});

describe('GET /api/admin/orders', () => {
  beforeAll(async () => {
    await shop.query('TRUNCATE orders CASCADE');
    for (const status of ['pending', 'settlement', 'expire'])
      await shop.insertOrdersWithoutPages(await shop.service.customer(), 60, status);
  });

  it.each([
    ['orders', '', 'true', [50, 50, 50, 30]],
    ['settled orders with ?status=settlement', 'status=settlement', "status = 'settlement'", [50, 10]],
  ])('lists all %s, newest first, page by page', async (_what, query, condition, sizes) => {
    const rows = await shop.query<{ order_id: string }>(
      `SELECT order_id FROM orders WHERE ${condition} ORDER BY created_at DESC, order_id DESC`,
    );
    const ids = rows.map(({ order_id }) => order_id);
    expect(await readPages(shop.admin, ADMIN_ORDERS, query)).toEqual({ ids, sizes });
  });

  it.each([
    ['status', STATUS_MESSAGE, ['paid', '', 'pending&status=settlement']],
    ['fulfilment', FULFILMENT_MESSAGE, ['baked', '', 'NEW', 'new&fulfilment=ready']],
    ['paid', 'paid should be true or false', ['yes', '', 'true&paid=false']],
    ['refund', 'refund should be due', ['none', '']],
    ['pickup', DATE_MESSAGE, ['yesterday', '', '2030-02-30', '2030-05-01&pickup=2030-05-02']],
    ['q', 'q can have 100 characters at max', ['x'.repeat(101)]],
  ])('rejects an invalid value of %s with the message "%s"', async (name, message, values) => {
    for (const value of values)
      expectInvalid(await shop.admin.get(`${ADMIN_ORDERS}?${name}=${value}`), { [name]: message });
  });
});

it.each([
  ['read', 'other customers', 'get', ''],
  ['paid', 'other customers', 'post', '/token'],
  ['paid', 'administrators', 'post', '/token'],
  ['cancelled', 'other customers', 'post', '/cancel'],
  ['cancelled', 'administrators', 'post', '/cancel'],
] as const)(
  'an order cannot be %s by %s, who get 404 as for an unknown id',
  async (_, who, method, action) => {
    const created = await placeOrder(customer, [{ product_id: shop.productId, quantity: 2 }]);
    shop.gateway.calls.length = 0;
    const user = who === 'other customers' ? await shop.service.customer() : shop.admin;
    for (const id of [created.order_id, randomUUID(), 'none', '1%00']) {
      expectFailure(await user[method](`${ORDERS}/${id}${action}`), 404, MESSAGES.notFound);
    }
    expect(await readOrder(customer, created.order_id)).toEqual(created);
    expect(shop.gateway.calls).toEqual([]);
  },
);
