import { createHash, randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import { addDays } from '../src/common/calendar.js';
import type { Client } from './support/client.js';
import { countLockWaits, beginTransaction, sendDuringTransaction, waitForLock } from './support/databases.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { type OrderBody, orderOf, pageOf, readOrder, requestOrder } from './support/orders.js';
import { insertProduct } from './support/products.js';
import { everyDay, setUpShop, type ShopSettings } from './support/shop-settings.js';
import { useShop } from './support/shop.js';
import { inParallel, sortedStatusesOf } from './support/wait.js';

const BAD_PICKUP = { pickup_at: 'pickup is not possible at this time' };
const NO_ORDERS = { pickup_at: 'the shop takes no orders at the moment' };
const ITEMS = 'items should be a list of 1 to 50 different products';
const BAD_PHONE = { phone: 'phone should be a phone number' };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Opening hours of a shop that is always closed. */
const NEVER_OPEN = everyDay();
/** Current date in UTC. In the time zone of the shop, it may already be the next date. */
const TODAY = new Date().toISOString().slice(0, 10);

const shop = await useShop();
let customer: Client;

beforeEach(async () => {
  customer = await shop.service.customer();
  await setUpShop(shop.admin);
});

/** Returns the time that is this many hours from now, in UTC. */
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();

/** Writes the same instant with the offset of Jakarta. */
const toJakarta = (utc: string): string =>
  new Date(Date.parse(utc) + 7 * HOUR_MS).toISOString().replace('Z', '+07:00');

/** Sends an order with these fields. The default for `items` is one piece of the shop's product. */
function requestWith(fields: object, key?: string): Test {
  return requestOrder(customer, [{ product_id: shop.productId, quantity: 1 }], key, fields);
}

/** Sends an order like `requestWith` and asserts that the order is created. */
async function placeOrderWith(fields: object, key?: string): Promise<OrderBody> {
  return orderOf(await requestWith(fields, key).expect(201));
}

describe('an order with a pickup time, phone and note', () => {
  it('shows them to the customer and to administrators, trimmed, with a note of up to 500 emoji', async () => {
    const wishes = { pickup_at: inHours(24), phone: '+62 (812) 3456-7890', note: '🎂'.repeat(500) };
    const created = await placeOrderWith({ ...wishes, phone: ` ${wishes.phone} `, note: `${wishes.note}\n` });
    expect(created).toMatchObject(wishes);
    expect(await readOrder(customer, created.order_id)).toEqual(created);
    const response = await shop.admin.get(`/api/admin/orders/${created.order_id}`).expect(200);
    expect(orderOf(response)).toMatchObject(wishes);
  });

  it('shows null for fields that the request omits or sends as null, and for a blank note', async () => {
    const none = { pickup_at: null, phone: null, note: null };
    expect(await placeOrderWith({})).toMatchObject(none);
    expect(await placeOrderWith({ ...none, note: ' ' })).toMatchObject(none);
  });

  it('accepts a pickup time in UTC or with an offset such as +07:00 or +0700, with or without seconds', async () => {
    const utc = `${inHours(24).slice(0, 16)}:00.000Z`;
    const jakarta = toJakarta(utc);
    for (const pickup_at of [utc, jakarta.replace(':00.000', ''), jakarta.replace('+07:00', '+0700')])
      expect((await placeOrderWith({ pickup_at })).pickup_at).toBe(utc);
  });

  it.each<[string, object, Record<string, string>]>([
    ['a pickup time without an offset', { pickup_at: inHours(24).replace('Z', '') }, BAD_PICKUP],
    ['a pickup time in the past', { pickup_at: inHours(-1) }, BAD_PICKUP],
    ['a pickup time of the year 10000 in UTC', { pickup_at: '9999-12-31T23:00:00-05:00' }, BAD_PICKUP],
    ['a pickup time that is a number', { pickup_at: Date.now() + 24 * HOUR_MS }, BAD_PICKUP],
    ['a phone number of 33 characters', { phone: '1'.repeat(33) }, BAD_PHONE],
    ['letters in a phone number', { phone: '0812 CALL' }, BAD_PHONE],
    ['digits that are not ASCII', { phone: '٠١٢٣٤٥٦' }, BAD_PHONE],
    ['a note of 501 emoji', { note: '🎂'.repeat(501) }, { note: 'note can have 500 characters at max' }],
    ['a note with U+0000', { note: 'a\0b' }, { note: 'note contains a character that is not allowed' }],
  ])('is rejected if the request contains %s', async (_fields, fields, details) => {
    expectInvalid(await requestWith(fields), details);
    expect(await shop.readStoredOrderIds(customer)).toEqual([]);
  });
});

describe('an invalid order', () => {
  it('is rejected with the messages of all its fields, also of those that depend on the catalog and the shop', async () => {
    const items = [
      { product_id: 999_999, quantity: 0, price: 1 },
      { product_id: shop.productId, quantity: 1, price: 1 },
    ];
    const response = await requestOrder(customer, items, 'x'.repeat(256), {
      pickup_at: inHours(-1),
      phone: 'x',
    });
    expectInvalid(response, {
      ...BAD_PICKUP,
      ...BAD_PHONE,
      'idempotency-key': 'Idempotency-Key should have 1 to 255 characters',
      'items.0.product_id': 'product is no longer available',
      'items.0.quantity': 'quantity should be a whole number from 1 to 999',
      'items.1.price': expect.stringMatching(/^price is now \d+$/) as string,
    });
    expect(await shop.readStoredOrderIds(customer)).toEqual([]);
  });

  it.each([
    [{ phone: 'x' }, BAD_PHONE] as const,
    [{ pickup_at: 'x' }, {}] as const,
    [{ items: [] }, { items: ITEMS }] as const,
  ])('is rejected with the message of a closed shop, too: %j', async (fields, details) => {
    await setUpShop(shop.admin, { hours: NEVER_OPEN });
    expectInvalid(await requestWith(fields), { ...details, ...NO_ORDERS });
  });
});

it.each([
  ['3 hours, at the lead time of 2 hours before a pickup in 5 hours', 300, 180],
  ['15 minutes for a pickup in 125 minutes, 5 minutes before the lead time', 125, 15],
  ['24 hours for a pickup in 2 days', 2880, 1440],
])('the payment page ends after %s', async (_end, pickupMinutes, pageMinutes) => {
  await setUpShop(shop.admin, { lead_minutes: 120 });
  const began = Date.now();
  const { order_id, pay_until } = await placeOrderWith({ pickup_at: inHours(pickupMinutes / 60) });
  const toPageEnd = (placedAt: number) => placedAt + pageMinutes * MINUTE_MS;
  expect(Date.parse(pay_until ?? '')).toBeGreaterThanOrEqual(toPageEnd(began));
  expect(Date.parse(pay_until ?? '')).toBeLessThanOrEqual(toPageEnd(Date.now()));
  const call = shop.gateway.listCalls('create').find(({ orderId }) => orderId === order_id);
  const lifetime = { unit: 'minutes', duration: pageMinutes };
  expect(call?.body).toMatchObject({ expiry: lifetime, page_expiry: lifetime });
});

it.each<[string, Partial<ShopSettings>]>([
  ['has no opening hours', { hours: NEVER_OPEN }],
  ['is paused', { paused_until: inHours(0.5) }],
  ['is closed on 16 dates', { closed: Array.from({ length: 16 }, (_, days) => addDays(TODAY, days)) }],
  ['is on holiday', { closed_ranges: [{ from: TODAY, to: addDays(TODAY, 15), reason: 'Lebaran' }] }],
  ['needs more time than customers can order ahead', { days_ahead: 1, lead_minutes: 4 * 24 * 60 }],
])(
  'a shop takes no orders, with or without a pickup time, and shows no pickup windows if it %s',
  async (_why, settings) => {
    await setUpShop(shop.admin, settings);
    for (const fields of [{}, { pickup_at: inHours(24) }])
      expectInvalid(await requestWith(fields), NO_ORDERS);
    expect(await shop.readStoredOrderIds(customer)).toEqual([]);
    const response = await shop.service.client().get('/api/shop').expect(200);
    expect(response.body).toMatchObject({ data: { shop: { pickup: [] } } });
  },
);

describe('a slot with a limited number of orders', () => {
  const dayAfterTomorrow = addDays(TODAY, 2);
  /** Time within a slot of 60 minutes. `minutes`: from 10 to 59. */
  const pickupAt = (minutes: number) => `${dayAfterTomorrow}T10:${minutes}:00+07:00`;

  beforeEach(() => shop.query('TRUNCATE orders CASCADE'));

  it('gives its last place to one of 50 parallel orders, and the next slot is free', async () => {
    await setUpShop(shop.admin, { slot_minutes: 60, orders_per_slot: 2 });
    await placeOrderWith({ pickup_at: pickupAt(59) });
    // The orders of one customer wait for each other, so several customers compete for the place.
    const customers = await inParallel(10, () => shop.service.customer());
    const items = [{ product_id: shop.productId, quantity: 1 }];
    const responses = await inParallel(50, (n) =>
      requestOrder(customers[n % 10] ?? customer, items, undefined, { pickup_at: pickupAt(10 + n) }),
    );
    const rejected = responses.filter(({ status }) => status !== 201);
    expect(rejected).toHaveLength(49);
    for (const response of rejected) expectInvalid(response, BAD_PICKUP);
    await placeOrderWith({ pickup_at: pickupAt(10).replace('T10', 'T11') });
  });

  it('is reported as full, not as a closed shop, if an order takes the only place that can be chosen', async () => {
    const hours = everyDay(['10:00', '11:00']);
    const closed = [0, 1, 3, 4].map((days) => addDays(TODAY, days));
    await setUpShop(shop.admin, { hours, closed, days_ahead: 3, slot_minutes: 60, orders_per_slot: 1 });
    await placeOrderWith({ pickup_at: pickupAt(10) });
    expectInvalid(await requestWith({ pickup_at: pickupAt(30) }), BAD_PICKUP);
  });

  it.each([
    ['is free again', "status = 'cancel'", 201],
    ['is free again', "pay_until = now() - interval '1 second'", 201],
    ['is free again', "fulfilment = 'refused', status = 'settlement', first_paid_at = now()", 201],
    ['is free again', "status = 'refund', first_paid_at = now(), refunded_amount = gross_amount", 201],
    ['stays full', "status = 'deny'", 400],
    ['stays full', "status = 'settlement', first_paid_at = now(), fulfilment = 'collected'", 400],
  ])('%s if its order changes to %s', async (_what, change, status) => {
    await setUpShop(shop.admin, { slot_minutes: 15, orders_per_slot: 1 });
    const { order_id } = await placeOrderWith({ pickup_at: pickupAt(30) });
    await requestWith({ pickup_at: pickupAt(44) }).expect(400);
    await shop.query(`UPDATE orders SET ${change} WHERE order_id = $1`, [order_id]);
    await requestWith({ pickup_at: pickupAt(44) }).expect(status);
  });
});

it('each request without an Idempotency-Key creates an order, up to 50 open orders of a customer, even in parallel', async () => {
  const responses = await inParallel(60, () => requestWith({}));
  const rejected = responses.filter(({ status }) => status !== 201);
  expect(rejected).toHaveLength(10);
  for (const response of rejected) expectFailure(response, 409, 'you have too many unpaid orders');
  const [orderId] = await shop.readStoredOrderIds(customer);
  await customer.post(`/api/orders/${orderId}/cancel`).expect(200);
  await requestWith({}).expect(201);
  await requestWith({}).expect(409);
});

it('the parallel orders of one customer, which wait for each other, leave connections to other customers', async () => {
  const reader = await shop.service.customer();
  const { database } = shop.service;
  const lock = `SELECT FROM products WHERE id = ${shop.productId} FOR UPDATE`;
  const { commit } = await beginTransaction(database, lock);
  const orders = inParallel(20, () => requestWith({}));
  await waitForLock(database, 3);
  await reader.get('/api/orders').expect(404);
  expect(await countLockWaits(database)).toBe(3);
  await commit();
  expect(new Set(sortedStatusesOf(await orders))).toEqual(new Set([201]));
});

describe('the price that a customer was shown', () => {
  it('is accepted if it equals the price of the catalog, rounded to whole rupiah', async () => {
    const rounded = await insertProduct(shop.service, '12500.50');
    const items = [{ product_id: rounded, quantity: 2, price: 12_501 }];
    expect((await placeOrderWith({ items })).gross_amount).toBe(25_002);
  });

  it('is compared with the price that an administrator is changing: the order waits for the change', async () => {
    const product_id = await insertProduct(shop.service, 25_000);
    const items = [{ product_id, quantity: 1, price: 25_000 }];
    const response = await sendDuringTransaction(
      shop.service.database,
      `UPDATE products SET price = 20000 WHERE id = ${product_id}`,
      () => requestWith({ items }),
    );
    expectInvalid(response, { 'items.0.price': 'price is now 20000' });
  });

  it.each([-1, 1.5, 'cheap'])('is rejected if it is %s instead of a whole number from 0', async (price) => {
    const items = [{ product_id: shop.productId, quantity: 1, price }];
    const details = { 'items.0.price': 'price should be a whole number from 0' };
    expectInvalid(await requestWith({ items }), details);
  });
});

describe('a retry with the same Idempotency-Key', () => {
  it('returns the original order after price, availability and opening hours have changed', async () => {
    const product_id = await insertProduct(shop.service, 25_000);
    const [key, pickup_at] = [randomUUID(), inHours(24)];
    const body = { items: [{ product_id, quantity: 1, price: 25_000 }], pickup_at, phone: '0812345' };
    const created = await placeOrderWith(body, key);
    await shop.query('UPDATE products SET price = 1, available = false WHERE id = $1', [product_id]);
    await setUpShop(shop.admin, { hours: NEVER_OPEN });
    expect(await placeOrderWith(body, key)).toEqual(created);
    await requestWith(body).expect(400);
  });

  it('is rejected with another pickup time, phone, note or shown price; the offset of the pickup time may differ', async () => {
    const [key, pickup_at] = [randomUUID(), inHours(24)];
    const body = { pickup_at, phone: '0812345', note: 'a' };
    const created = await placeOrderWith(body, key);
    expect(await placeOrderWith({ ...body, pickup_at: toJakarta(pickup_at) }, key)).toEqual(created);
    // This is the current price, but the original request contains none.
    const items = [{ product_id: shop.productId, quantity: 1, price: 185_000 }];
    for (const change of [{ pickup_at: inHours(25) }, { phone: null }, { note: 'b' }, { items }])
      expectFailure(await requestWith({ ...body, ...change }, key), 409, MESSAGES.idempotencyKeyReused);
  });

  it('finds an order of version 1.2: a request that contains only items has the same digest as in 1.2', async () => {
    const { order_id } = await placeOrderWith({}, randomUUID());
    const rows = await shop.query<{ request_digest: Buffer }>(
      'SELECT request_digest FROM orders WHERE order_id = $1',
      [order_id],
    );
    const digestIn12 = createHash('sha256').update(`[[${shop.productId},1]]`).digest();
    expect(rows).toEqual([{ request_digest: digestIn12 }]);
  });
});

describe('the pickup filter of GET /api/admin/orders', () => {
  /** Stores an unpaid order for each pickup time. Returns the ids of the orders, in the same order as the times. */
  async function storeOrders(...times: string[]): Promise<string[]> {
    const ids = await shop.insertOrdersWithoutPages(customer, times.length);
    await shop.query(
      `UPDATE orders SET pickup_at = time FROM unnest($1::uuid[], $2::timestamptz[]) AS pickups (id, time)
       WHERE order_id = id`,
      [ids, times],
    );
    return ids;
  }

  it('lists the orders of a date in the time zone of the shop, even unpaid ones', async () => {
    const [first, , , last] = await storeOrders(
      '2030-05-01T00:00:00+07:00',
      '2030-04-30T23:59:59+07:00',
      '2030-05-02T00:00:00+07:00',
      '2030-05-01T23:59:59+07:00',
    );
    expect(await shop.listAsAdmin({ pickup: '2030-05-01' })).toEqual([first, last]);
    expect(await shop.listAsAdmin({ pickup: '2030-05-01', fulfilment: 'ready' })).toEqual([]);
    expect(await shop.listAsAdmin({ pickup: '2030-05-03' })).toEqual([]);
  });

  it('continues by pickup time after last_id, also among orders with the same pickup time', async () => {
    const times = Array.from({ length: 120 }, (_, n) => `2030-06-01T${10 + (n % 3)}:00:00+07:00`);
    const ids = await storeOrders(...times);
    const found: OrderBody[] = [];
    const list = (lastId: object = {}) =>
      shop.admin.get('/api/admin/orders').query({ pickup: '2030-06-01', ...lastId });
    let response = await list();
    while (response.status === 200) {
      const { orders, meta } = pageOf(response);
      found.push(...orders);
      response = await list({ last_id: meta.lastOrderId });
    }
    expect(found.map(({ order_id }) => order_id).toSorted()).toEqual(ids.toSorted());
    const pickupTimes = found.map(({ pickup_at }) => pickup_at ?? '');
    expect(pickupTimes).toEqual(pickupTimes.toSorted());
  });
});
