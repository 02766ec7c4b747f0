import type { Client } from './support/client.js';
import { expectInvalid } from './support/failure.js';
import { orderOf, placeOrder, readOrder, requestOrder } from './support/orders.js';
import { BREAD, insertProduct, sendForm } from './support/products.js';
import { useShop } from './support/shop.js';
import { decodeClaims } from './support/tokens.js';
import { inParallel } from './support/wait.js';

const ITEMS = 'items should be a list of 1 to 50 different products';
const PRODUCT_ID = 'product_id should be the id of a product';
const QUANTITY = 'quantity should be a whole number from 1 to 999';
const GONE = 'product is no longer available';

const shop = await useShop();
const bread = await insertProduct(shop.service, 25_000, 'Sourdough');
let customer: Client;

beforeEach(async () => {
  customer = await shop.service.customer();
});

const item = (product_id: unknown, quantity: unknown = 1): object => ({ product_id, quantity });

async function expectRejected(items: unknown, details: Record<string, string>): Promise<void> {
  expectInvalid(await requestOrder(customer, items), details);
  expect(await shop.readStoredOrderIds(customer)).toEqual([]);
  expect(shop.gateway.calls).toEqual([]);
}

/** Asserts that a time lies between `began` and now. The time may be rounded down to a second. */
function expectSince(began: number, time: string): void {
  expect(Date.parse(time)).toBeGreaterThan(began - 1_000);
  expect(Date.parse(time)).toBeLessThanOrEqual(Date.now());
}

describe('POST /api/orders', () => {
  it('returns 201 with exactly the documented fields and the prices of the catalog, and ignores unknown fields', async () => {
    const cake = await insertProduct(shop.service, 185_000, 'Kue lapis legit');
    const began = Date.now();
    const items = [{ ...item(cake, 2), name: 'Free cake', position: 9 }, item(bread, 3)];
    const order_id = '00000000-0000-4000-8000-000000000000';
    const completed_at = '2026-01-01T00:00:00Z';
    const unknown = { order_id, gross_amount: 1, status: 'settlement', user_id: 1, completed_at };
    const response = await requestOrder(customer, items, undefined, unknown).expect(201);
    const created = orderOf(response);
    expect(response.body).toEqual({ status: 'success', data: { order: created } });
    const { token } = shop.gateway.order(created.order_id);
    expect(created).toEqual({
      order_id: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/) as string,
      status: 'pending',
      gross_amount: 445_000,
      refunded_amount: 0,
      payment_type: null,
      fraud_status: null,
      fulfilment: 'new',
      completed_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      pay_until: expect.stringMatching(/Z$/) as string,
      pickup_at: null,
      phone: null,
      note: null,
      items: [
        { product_id: cake, name: 'Kue lapis legit', price: 185_000, quantity: 2 },
        { product_id: bread, name: 'Sourdough', price: 25_000, quantity: 3 },
      ],
      token,
      redirect_url: `${shop.gateway.apiUrl}/snap/v4/redirection/${token}`,
    });
    expectSince(began, created.created_at);
    expect(created.order_id).not.toBe(order_id);
    expect(await readOrder(customer, created.order_id)).toEqual(created);
  });

  it('sends the gateway one authorized request with items that it accepts, the customer and 24 hours to pay', async () => {
    // The service cuts names to 50 UTF-16 units for the gateway. Unit 50 of this name is half of a surrogate pair. Some
    // payment methods fail on a vertical bar.
    const name = `Rye | Spelt ${'a'.repeat(37)}🥐`;
    const rye = await insertProduct(shop.service, '1999.50', name);
    const began = Date.now();
    const created = orderOf(await requestOrder(customer, [item(rye, 2), item(bread)]).expect(201));
    expect(created.items[0]?.name).toBe(name);
    expect(shop.gateway.calls).toMatchObject([{ operation: 'create', isAuthorized: true }]);
    const { fullname, email } = decodeClaims(customer.cookie('accessToken'));
    const body = shop.gateway.calls[0]?.body as { expiry: { start_time: string } };
    expect(body).toEqual({
      transaction_details: { order_id: created.order_id, gross_amount: 29_000 },
      item_details: [
        { id: String(rye), name: `Rye / Spelt ${'a'.repeat(37)}`, price: 2_000, quantity: 2 },
        { id: String(bread), name: 'Sourdough', price: 25_000, quantity: 1 },
      ],
      customer_details: { first_name: fullname, email },
      expiry: {
        start_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0700$/) as string,
        unit: 'minutes',
        duration: 24 * 60,
      },
      page_expiry: { unit: 'minutes', duration: 24 * 60 },
    });
    expectSince(began, body.expiry.start_time.replace(' ', 'T').replace(' +0700', '+07:00'));
  });

  it('accepts 50 different products of 999 pieces each, and so does the gateway', async () => {
    const ids = await inParallel(50, (n) => insertProduct(shop.service, 1_000 + n, `Roll ${n}`));
    const items = ids.map((product_id) => ({ product_id, quantity: 999 }));
    const created = await placeOrder(customer, items);
    expect(created.items.map(({ product_id }) => product_id)).toEqual(ids);
    expect(created.gross_amount).toBe(999 * (50 * 1_000 + (49 * 50) / 2));
    expect(await readOrder(customer, created.order_id)).toEqual(created);
  });

  it.each([
    ['0.49', 0],
    ['0.50', 1],
    ['12500.50', 12_501],
    ['999999999999.50', 1_000_000_000_000],
  ])('rounds a price of %s to %d rupiah before multiplying by the quantity', async (price, rounded) => {
    const product = await insertProduct(shop.service, price);
    // The bread keeps the total above 0. The service rejects a total of 0.
    const created = orderOf(await requestOrder(customer, [item(product, 3), item(bread)]).expect(201));
    expect(created.items[0]?.price).toBe(rounded);
    expect(created.gross_amount).toBe(3 * rounded + 25_000);
  });

  it.each<[string, unknown, Record<string, string>]>([
    ['a missing list of items', undefined, { items: ITEMS }],
    ['null instead of an item', [null], { items: ITEMS }],
    ['the same product twice', [item(1), item(1, 2)], { items: ITEMS }],
    ['51 products', Array.from({ length: 51 }, (_, n) => item(n + 1)), { items: ITEMS }],
    ['an empty item', [{}], { 'items.0.product_id': PRODUCT_ID, 'items.0.quantity': QUANTITY }],
    ['a quantity of 0', [item(1, 0)], { 'items.0.quantity': QUANTITY }],
    ['a quantity of 1000', [item(1, 1000)], { 'items.0.quantity': QUANTITY }],
    ['a product id of 0', [item(0)], { 'items.0.product_id': PRODUCT_ID }],
    ['a product id above Number.MAX_SAFE_INTEGER', [item(2 ** 53)], { 'items.0.product_id': PRODUCT_ID }],
    [
      'several invalid items',
      [item(1, 0), item('x'), item(3)],
      { 'items.0.quantity': QUANTITY, 'items.1.product_id': PRODUCT_ID },
    ],
  ])('rejects %s and names the path of each invalid value', async (_items, items, details) => {
    await expectRejected(items, details);
  });

  it('reports every product that does not exist', async () => {
    // The first id does not fit the type of the column. The last one is the largest possible id.
    const items = [item(Number.MAX_SAFE_INTEGER), item(bread), item(2 ** 31 - 1)];
    await expectRejected(items, { 'items.0.product_id': GONE, 'items.2.product_id': GONE });
  });

  it('rejects an order whose rounded prices add up to 0', async () => {
    const items = [item(await insertProduct(shop.service, '0.49'))];
    await expectRejected(items, { items: 'the total should be at least 1 rupiah' });
  });

  it('rejects a total above Number.MAX_SAFE_INTEGER', async () => {
    const ids = await inParallel(50, () => insertProduct(shop.service, '999999999999.99'));
    const items = ids.map((id) => item(id, 999));
    await expectRejected(items, { items: 'the total is too large to be paid' });
  });
});

describe('an order', () => {
  it('keeps the name and price of a product that is changed later', async () => {
    const product_id = await insertProduct(shop.service, 25_000, 'Croissant');
    const created = await placeOrder(customer, [{ product_id, quantity: 2 }]);
    await sendForm(shop.admin.put(`/api/products/${product_id}`), BREAD).expect(200);
    expect(created.items).toEqual([{ product_id, name: 'Croissant', price: 25_000, quantity: 2 }]);
    expect(await readOrder(customer, created.order_id)).toEqual(created);
    const [newItem] = (await placeOrder(customer, [{ product_id, quantity: 2 }])).items;
    expect(newItem).toMatchObject({ name: BREAD.name, price: Number(BREAD.price) });
  });

  it('can be paid after its product was deleted', async () => {
    const product_id = await insertProduct(shop.service, 25_000, 'Croissant');
    const created = await placeOrder(customer, [{ product_id, quantity: 2 }]);
    await shop.admin.delete(`/api/products/${product_id}`).expect(204);
    expect(await readOrder(customer, created.order_id)).toEqual(created);
    expectInvalid(await requestOrder(customer, [item(product_id)]), { 'items.0.product_id': GONE });
    await shop.setStatusAndNotify(created.order_id, 'settlement');
    expect(await readOrder(customer, created.order_id)).toEqual({
      ...created,
      status: 'settlement',
      payment_type: 'bank_transfer',
      fraud_status: 'accept',
      pay_until: null,
      completed_at: expect.any(String) as string,
      token: null,
      redirect_url: null,
    });
  });
});
