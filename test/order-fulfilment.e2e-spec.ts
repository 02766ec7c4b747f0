import type { Test } from 'supertest';
import type { Client } from './support/client.js';
import {
  attemptsOf,
  insertOrders,
  orderOf,
  ORDERS,
  pageOf,
  readOrder,
  requestToken,
  type Shop,
  startShop,
} from './support/orders.js';
import { fail, NOT_FOUND } from './support/products.js';

const ADMIN_ORDERS = '/api/admin/orders';
const STEPS = ['new', 'preparing', 'ready', 'collected', 'refused'] as const;
type Step = (typeof STEPS)[number];
/** All that the contract allows (13.11). */
const ALLOWED = [
  ['new', 'preparing'],
  ['preparing', 'ready'],
  ['ready', 'collected'],
  ['new', 'refused'],
  ['preparing', 'refused'],
  ['ready', 'refused'],
];
const PAID = ['settlement', 'capture'];
const UNPAID = ['pending', 'deny', 'cancel', 'expire', 'failure', 'refund', 'partial_refund', 'authorize'];
const UNKNOWN_STEP = fail(400, 'validation error', {
  fulfilment: 'fulfilment should be one of new, preparing, ready, collected, refused',
});

let shop: Shop;
let customer: Client;
let admin: Client;

beforeAll(async () => {
  shop = await startShop();
  admin = await shop.admin();
  customer = await shop.customer();
});

afterAll(() => shop.stop());

/** An order in a given state. @returns its id */
async function orderIn(fulfilment: Step, status = 'settlement'): Promise<string> {
  const [orderId = ''] = await insertOrders(shop, customer, 1, status);
  await shop.database.pool.query('UPDATE orders SET fulfilment = $2 WHERE order_id = $1', [
    orderId,
    fulfilment,
  ]);
  return orderId;
}

function advance(client: Client, orderId: string, fulfilment: unknown): Test {
  return client.put(`${ADMIN_ORDERS}/${orderId}/fulfilment`).send({ fulfilment });
}

function cannotBecome(step: string): object {
  return fail(409, `the order cannot become ${step}`);
}

describe('PUT /api/admin/orders/{order_id}/fulfilment', () => {
  it('takes a paid order from new to collected; its customer sees each step, and its payment stays', async () => {
    const orderId = await orderIn('new');
    const before = await readOrder(customer, orderId);
    expect(before.fulfilment).toBe('new');
    for (const step of ['preparing', 'ready', 'collected']) {
      const answer = await advance(admin, orderId, step).expect(200);
      expect(orderOf(answer)).toMatchObject({ fulfilment: step, customer: { fullname: 'Ayu Lestari' } });
      expect(await readOrder(customer, orderId)).toEqual({ ...before, fulfilment: step });
    }
  });

  const pairs = STEPS.flatMap((from) => STEPS.map((to) => [from, to] as const));
  const allowed = new Set(ALLOWED.map(String));

  it.each(pairs.filter((pair) => allowed.has(String(pair))))(
    'takes an order from %s to %s',
    async (from, to) => {
      const orderId = await orderIn(from);
      expect(orderOf(await advance(admin, orderId, to).expect(200)).fulfilment).toBe(to);
    },
  );

  it.each(pairs.filter((pair) => !allowed.has(String(pair))))(
    'never takes one from %s to %s',
    async (from, to) => {
      const orderId = await orderIn(from);
      expect((await advance(admin, orderId, to).expect(409)).body).toEqual(cannotBecome(to));
      expect((await readOrder(customer, orderId)).fulfilment).toBe(from);
    },
  );

  it.each(PAID)('prepares an order of status %s', async (status) => {
    await advance(admin, await orderIn('new', status), 'preparing').expect(200);
  });

  it.each(UNPAID)('does not prepare an order of status %s, but refuses it', async (status) => {
    const orderId = await orderIn('new', status);
    expect((await advance(admin, orderId, 'preparing').expect(409)).body).toEqual(cannotBecome('preparing'));
    const refused = orderOf(await advance(admin, orderId, 'refused').expect(200));
    expect(refused).toMatchObject({ fulfilment: 'refused', status });
  });

  it('of ten administrators who take one step at once, one does it and the others read 409', async () => {
    const orderId = await orderIn('new');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => advance(admin, orderId, 'preparing').then((answer) => answer)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    expect((await readOrder(customer, orderId)).fulfilment).toBe('preparing');
  });

  it('of two who take different steps at once, one wins', async () => {
    const orderId = await orderIn('ready');
    const answers = await Promise.all(
      ['collected', 'refused'].map((step) => advance(admin, orderId, step).then((answer) => answer)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = answers.find(({ status }) => status === 200);
    expect(won && orderOf(won).fulfilment).toBe((await readOrder(customer, orderId)).fulfilment);
  });

  it.each([undefined, null, '', 'baked', 'READY', ['ready'], { is: 'ready' }, 7])(
    'the value %p is unknown: 400 lists the values',
    async (value) => {
      const orderId = await orderIn('new');
      expect((await advance(admin, orderId, value).expect(400)).body).toEqual(UNKNOWN_STEP);
    },
  );

  it('a bad value is refused before the order is looked for, which is then a 404', async () => {
    for (const orderId of ['5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11', 'no-order']) {
      expect((await advance(admin, orderId, 'baked').expect(400)).body).toEqual(UNKNOWN_STEP);
      expect((await advance(admin, orderId, 'refused').expect(404)).body).toEqual(NOT_FOUND);
    }
  });

  it('the id of a later payment page is no order: 404', async () => {
    const [orderId = ''] = await insertOrders(shop, customer, 1);
    await requestToken(customer, orderId).expect(200);
    await shop.database.pool.query(
      'UPDATE payment_attempts SET attempt_id = gen_random_uuid() WHERE order_id = $1',
      [orderId],
    );
    const [attempt] = await attemptsOf(shop, orderId);
    await advance(admin, attempt?.attempt_id ?? '', 'refused').expect(404);
    await advance(admin, orderId.toUpperCase(), 'refused').expect(200);
  });

  it('malformed JSON is a 400', async () => {
    const answer = await admin
      .put(`${ADMIN_ORDERS}/${await orderIn('new')}/fulfilment`)
      .set('Content-Type', 'application/json')
      .send('{"fulfilment":')
      .expect(400);
    expect(answer.body).toEqual(fail(400, 'malformed request'));
  });
});

describe('GET /api/admin/orders?fulfilment=', () => {
  it('shows the orders of that step alone, and goes with status', async () => {
    const [ready, paid, open] = [
      await orderIn('ready'),
      await orderIn('new'),
      await orderIn('new', 'pending'),
    ];
    const idsOf = async (query: string): Promise<string[]> =>
      pageOf(await admin.get(`${ADMIN_ORDERS}?${query}`).expect(200)).orders.map(({ order_id }) => order_id);
    expect((await idsOf('fulfilment=ready'))[0]).toBe(ready);
    expect((await idsOf('fulfilment=new')).slice(0, 2)).toEqual([open, paid]);
    expect((await idsOf('fulfilment=new&status=settlement'))[0]).toBe(paid);
    expect(await idsOf(`fulfilment=new&last_id=${open}`)).toEqual((await idsOf('fulfilment=new')).slice(1));
  });

  it.each(['', 'baked', 'NEW', 'new&fulfilment=ready'])('fulfilment=%s is none: 400', async (value) => {
    expect((await admin.get(`${ADMIN_ORDERS}?fulfilment=${value}`).expect(400)).body).toEqual(UNKNOWN_STEP);
  });

  it("is not for a customer's own list, which takes no filter", async () => {
    const orderId = await orderIn('refused');
    const { orders } = pageOf(await customer.get(`${ORDERS}?fulfilment=baked`).expect(200));
    expect(orders[0]).toMatchObject({ order_id: orderId, fulfilment: 'refused' });
    expect(orders[0]).not.toHaveProperty('customer');
  });
});
