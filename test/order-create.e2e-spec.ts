import type { Client } from './support/client.js';
import {
  addProduct,
  expectNoRefusedCall,
  order,
  type OrderAnswer,
  orderIdsOf,
  orderOf,
  pay,
  placeOrder,
  readOrder,
  type ServiceWithGateway,
  startServiceWithGateway,
} from './support/orders.js';
import { fail, form } from './support/products.js';

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const ITEMS = 'items should be a list of 1 to 50 different products';
const PRODUCT_ID = 'product_id should be the id of a product';
const QUANTITY = 'quantity should be a whole number from 1 to 999';
const MAX_INT4 = 2_147_483_647;

/** Returns the failure of an order whose items at these indexes do not exist. */
function buildGoneFailure(...places: number[]) {
  const details = places.map((place) => [`items.${place}.product_id`, 'product is no longer available']);
  return fail(400, 'validation error', Object.fromEntries(details) as Record<string, string>);
}

/** Returns the items of an order of one product. */
function items(product_id: unknown, quantity: unknown): object[] {
  return [{ product_id, quantity }];
}

describe('creating an order', () => {
  let shop: ServiceWithGateway;
  let customer: Client;
  let bread: number;

  beforeAll(async () => {
    shop = await startServiceWithGateway();
    bread = await addProduct(shop, 25_000, 'Sourdough');
  });

  beforeEach(async () => {
    customer = await shop.customer();
    shop.gateway.calls.length = 0;
  });

  afterAll(() => shop.stop());

  async function expectNothingOrdered(): Promise<void> {
    expect(await orderIdsOf(shop, customer)).toEqual([]);
    expect(shop.gateway.calls).toEqual([]);
  }

  it('returns 201 with exactly the documented fields, the status pending and the prices of the catalog', async () => {
    const cake = await addProduct(shop, 185_000, 'Kue lapis legit');
    const before = Date.now();
    const answer = await order(customer, [
      { product_id: cake, quantity: 2 },
      { product_id: bread, quantity: 3 },
    ]).expect(201);
    const created = orderOf(answer);
    const { token } = shop.gateway.order(created.order_id);
    expect(answer.body).toEqual({
      status: 'success',
      data: {
        order: {
          order_id: expect.stringMatching(UUID) as string,
          status: 'pending',
          gross_amount: 445_000,
          refunded_amount: 0,
          payment_type: null,
          fraud_status: null,
          fulfilment: 'new',
          completed_at: null,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
          pickup_at: null,
          phone: null,
          note: null,
          items: [
            { product_id: cake, name: 'Kue lapis legit', price: 185_000, quantity: 2 },
            { product_id: bread, name: 'Sourdough', price: 25_000, quantity: 3 },
          ],
          token,
          redirect_url: `${shop.gateway.apiUrl}/snap/v4/redirection/${token}`,
        },
      },
    });
    expect(Date.parse(created.created_at)).toBeGreaterThan(before - 1_000);
    expect(Date.parse(created.created_at)).toBeLessThan(Date.now() + 1_000);
    expect(await readOrder(customer, created.order_id)).toEqual(created);
    expectNoRefusedCall(shop);
  });

  it('sends Snap one request with Basic auth, integer amounts, matching items, the customer and 24 hours', async () => {
    // At most 50 UTF-16 units. The 50th is half of a surrogate pair. Some payment methods fail on a vertical bar.
    const name = `Rye | Spelt ${'a'.repeat(37)}🥐`;
    const long = await addProduct(shop, '1999.50', name);
    const created = await placeOrder(customer, [
      { product_id: long, quantity: 2 },
      { product_id: bread, quantity: 1 },
    ]);
    const [call, ...others] = shop.gateway.calls;
    expect(others).toEqual([]);
    expect(call).toMatchObject({ operation: 'create', authorized: true, status: 201 });
    const account = await customer.get('/api/users').expect(200);
    const { fullname, email } = (account.body as { data: { user: { fullname: string; email: string } } }).data
      .user;
    expect(call?.body).toEqual({
      transaction_details: { order_id: created.order_id, gross_amount: 29_000 },
      item_details: [
        { id: String(long), name: `Rye / Spelt ${'a'.repeat(37)}`, price: 2_000, quantity: 2 },
        { id: String(bread), name: 'Sourdough', price: 25_000, quantity: 1 },
      ],
      customer_details: { first_name: fullname, email },
      expiry: {
        start_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0700$/) as string,
        unit: 'hours',
        duration: 24,
      },
      page_expiry: { unit: 'hours', duration: 24 },
    });
    const { expiry } = call?.body as { expiry: { start_time: string } };
    const start = Date.parse(expiry.start_time.replace(' ', 'T').replace(' +0700', '+07:00'));
    expect(Math.abs(Date.now() - start)).toBeLessThan(10_000);
    expect(created.items[0]?.name).toBe(name);
  });

  it('accepts 50 different products of 999 pieces each, and so does the gateway', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, n) => addProduct(shop, 1_000 + n, `Roll ${n}`)),
    );
    const created = await placeOrder(
      customer,
      ids.map((product_id) => ({ product_id, quantity: 999 })),
    );
    expect(created.items.map(({ product_id }) => product_id)).toEqual(ids);
    expect(created.gross_amount).toBe(999 * (50 * 1_000 + (49 * 50) / 2));
    expect(await readOrder(customer, created.order_id)).toEqual(created);
    expectNoRefusedCall(shop);
  });

  it.each([
    ['0.49', 0],
    ['0.50', 1],
    ['12500.50', 12_501],
    ['999999999999.50', 1_000_000_000_000],
  ])('rounds a price of %s to %d rupiah before it multiplies by the quantity', async (price, sold) => {
    const product = await addProduct(shop, price);
    const created = await placeOrder(customer, [
      { product_id: product, quantity: 3 },
      { product_id: bread, quantity: 1 },
    ]);
    expect(created.items[0]?.price).toBe(sold);
    expect(created.gross_amount).toBe(3 * sold + 25_000);
    expectNoRefusedCall(shop);
  });

  it('ignores names, totals and every other unknown field in the body', async () => {
    const answer = await customer
      .post('/api/orders')
      .send({
        items: [{ product_id: bread, quantity: 2, name: 'Free bread', position: 9 }],
        gross_amount: 1,
        status: 'settlement',
        order_id: '00000000-0000-4000-8000-000000000000',
        user_id: 1,
        completed_at: '2026-01-01T00:00:00Z',
      })
      .expect(201);
    expect(orderOf(answer)).toMatchObject({
      order_id: expect.not.stringContaining('00000000-0000') as string,
      status: 'pending',
      gross_amount: 50_000,
      completed_at: null,
      items: [{ product_id: bread, name: 'Sourdough', price: 25_000, quantity: 2 }],
    });
    expect(await orderIdsOf(shop, customer)).toEqual([orderOf(answer).order_id]);
  });

  it.each<[string, unknown, Record<string, string>]>([
    ['no items', undefined, { items: ITEMS }],
    ['an empty list', [], { items: ITEMS }],
    ['text', 'bread', { items: ITEMS }],
    ['a list of null', [null], { items: ITEMS }],
    ['the same product twice', [...items(1, 1), ...items(1, 2)], { items: ITEMS }],
    ['51 products', Array.from({ length: 51 }, (_, n) => items(n + 1, 1)).flat(), { items: ITEMS }],
    ['an empty item', [{}], { 'items.0.product_id': PRODUCT_ID, 'items.0.quantity': QUANTITY }],
    ['a quantity of 0', items(1, 0), { 'items.0.quantity': QUANTITY }],
    ['a quantity of 1.5', items(1, 1.5), { 'items.0.quantity': QUANTITY }],
    ['a quantity of 1000', items(1, 1000), { 'items.0.quantity': QUANTITY }],
    ['a quantity as text', items(1, '2'), { 'items.0.quantity': QUANTITY }],
    ['a product id of 0', items(0, 1), { 'items.0.product_id': PRODUCT_ID }],
    ['a product id of 1.5', items(1.5, 1), { 'items.0.product_id': PRODUCT_ID }],
    ['a product id as text', items('1', 1), { 'items.0.product_id': PRODUCT_ID }],
    ['a product id past every number', items(2 ** 53, 1), { 'items.0.product_id': PRODUCT_ID }],
    [
      'several invalid items, which are reported together',
      [...items(1, 0), ...items('x', 1), ...items(3, 3)],
      { 'items.0.quantity': QUANTITY, 'items.1.product_id': PRODUCT_ID },
    ],
  ])('rejects items with the path of each invalid value: %s', async (_what, list, details) => {
    const answer = await order(customer, list).expect(400);
    expect(answer.body).toEqual(fail(400, 'validation error', details));
    await expectNothingOrdered();
  });

  it('reports every product that does not exist', async () => {
    const answer = await order(customer, [
      { product_id: Number.MAX_SAFE_INTEGER, quantity: 1 },
      { product_id: bread, quantity: 1 },
      { product_id: MAX_INT4, quantity: 2 },
    ]).expect(400);
    expect(answer.body).toEqual(buildGoneFailure(0, 2));
    await expectNothingOrdered();
  });

  it.each(['0', '0.49'])('rejects a total of 0 (price %s)', async (price) => {
    const product = await addProduct(shop, price);
    const answer = await order(customer, [{ product_id: product, quantity: 1 }]).expect(400);
    expect(answer.body).toEqual(
      fail(400, 'validation error', { items: 'the total should be at least 1 rupiah' }),
    );
    await expectNothingOrdered();
  });

  it('rejects a total that a JSON number cannot represent exactly', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => addProduct(shop, '999999999999.99')));
    const answer = await order(
      customer,
      ids.map((product_id) => ({ product_id, quantity: 999 })),
    ).expect(400);
    expect(answer.body).toEqual(
      fail(400, 'validation error', { items: 'the total is too large to be paid' }),
    );
    await expectNothingOrdered();
  });

  describe('items have the name and price at which they were sold', () => {
    let created: OrderAnswer;
    let admin: Client;
    let product: number;

    beforeEach(async () => {
      admin = await shop.admin();
      product = await addProduct(shop, '12500.50', 'Roti sobek');
      created = await placeOrder(customer, [{ product_id: product, quantity: 2 }]);
      expect(created.items).toEqual([
        { product_id: product, name: 'Roti sobek', price: 12_501, quantity: 2 },
      ]);
    });

    it('after the product was changed, while a new order has the new ones', async () => {
      await form(admin.put(`/api/products/${product}`), {
        name: 'Roti manis',
        description: 'Renamed',
        price: '99000',
        'images.removed[]': '',
      }).expect(200);
      expect(await readOrder(customer, created.order_id)).toEqual(created);
      expect((await placeOrder(customer, [{ product_id: product, quantity: 1 }])).items).toEqual([
        { product_id: product, name: 'Roti manis', price: 99_000, quantity: 1 },
      ]);
    });

    it('after the product was deleted, and the order can still be paid', async () => {
      await admin.delete(`/api/products/${product}`).expect(204);
      expect(await readOrder(customer, created.order_id)).toEqual(created);
      const refused = await order(customer, [{ product_id: product, quantity: 1 }]).expect(400);
      expect(refused.body).toEqual(buildGoneFailure(0));
      await pay(shop, created.order_id);
      const paid = await readOrder(customer, created.order_id);
      expect(paid).toEqual({
        ...created,
        status: 'settlement',
        payment_type: 'bank_transfer',
        fraud_status: 'accept',
        completed_at: expect.any(String) as string,
        token: null,
        redirect_url: null,
      });
    });
  });
});
