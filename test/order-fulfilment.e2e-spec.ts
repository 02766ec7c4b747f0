import type { Test } from 'supertest';
import type { Client } from './support/client.js';
import { insertOrders, orderOf, ORDERS, pageOf, readOrder, type Shop, startShop } from './support/orders.js';
import { fail, NOT_FOUND } from './support/products.js';

const ADMIN_ORDERS = '/api/admin/orders';
const STEPS = ['new', 'preparing', 'ready', 'collected', 'refused'];
/** All that the contract allows (13.11). */
const ALLOWED = [
  'new to preparing',
  'new to refused',
  'preparing to ready',
  'preparing to refused',
  'ready to collected',
  'ready to refused',
];
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
async function orderIn(fulfilment: string, status = 'settlement'): Promise<string> {
  const [orderId = ''] = await insertOrders(shop, customer, 1, status);
  const change = 'UPDATE orders SET fulfilment = $2 WHERE order_id = $1';
  await shop.database.pool.query(change, [orderId, fulfilment]);
  return orderId;
}

function advance(orderId: string, fulfilment: unknown): Test {
  return admin.put(`${ADMIN_ORDERS}/${orderId}/fulfilment`).send({ fulfilment });
}

function cannotBecome(step: string): object {
  return fail(409, `the order cannot become ${step}`);
}

describe('PUT /api/admin/orders/{order_id}/fulfilment', () => {
  it('takes a paid order from new to collected; its customer sees each step, and its payment stays', async () => {
    const orderId = await orderIn('new', 'capture');
    const before = await readOrder(customer, orderId);
    for (const step of ['preparing', 'ready', 'collected']) {
      const answer = await advance(orderId, step).expect(200);
      expect(orderOf(answer)).toMatchObject({ fulfilment: step, customer: { fullname: 'Ayu Lestari' } });
      expect(await readOrder(customer, orderId)).toEqual({ ...before, fulfilment: step });
    }
  });

  it.each(STEPS.flatMap((from) => STEPS.map((to) => [from, to] as const)))(
    'takes an order from %s to %s if the contract allows it, else 409',
    async (from, to) => {
      const orderId = await orderIn(from);
      const isAllowed = ALLOWED.includes(`${from} to ${to}`);
      const answer = await advance(orderId, to).expect(isAllowed ? 200 : 409);
      if (!isAllowed) expect(answer.body).toEqual(cannotBecome(to));
      expect((await readOrder(customer, orderId)).fulfilment).toBe(isAllowed ? to : from);
    },
  );

  it.each(UNPAID)('does not prepare an order of status %s, but refuses it', async (status) => {
    const orderId = await orderIn('new', status);
    expect((await advance(orderId, 'preparing').expect(409)).body).toEqual(cannotBecome('preparing'));
    const refused = orderOf(await advance(orderId, 'refused').expect(200));
    expect(refused).toMatchObject({ fulfilment: 'refused', status });
  });

  it('of administrators who take one step at once, one does it and the others read 409', async () => {
    const orderId = await orderIn('new');
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => advance(orderId, 'preparing').then((answer) => answer.status)),
    );
    expect(answers.sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await readOrder(customer, orderId)).fulfilment).toBe('preparing');
  });

  it('an unknown value is refused first, 400 with all values; then an unknown order, 404', async () => {
    for (const orderId of [await orderIn('new'), '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11', 'no-order'])
      for (const value of [undefined, null, '', 'baked', 'READY', ['ready'], 7])
        expect((await advance(orderId, value).expect(400)).body).toEqual(UNKNOWN_STEP);
    for (const orderId of ['5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11', 'no-order'])
      expect((await advance(orderId, 'refused').expect(404)).body).toEqual(NOT_FOUND);
  });
});

describe('GET /api/admin/orders?fulfilment=', () => {
  it('shows the orders of that step alone, and goes with status and last_id', async () => {
    const ready = await orderIn('ready');
    const paid = await orderIn('new');
    const open = await orderIn('new', 'pending');
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

  it("is not for a customer's own list, which takes no filter and shows no customer", async () => {
    const orderId = await orderIn('refused');
    const { orders } = pageOf(await customer.get(`${ORDERS}?fulfilment=baked`).expect(200));
    expect(orders[0]).toMatchObject({ order_id: orderId, fulfilment: 'refused' });
    expect(orders[0]).not.toHaveProperty('customer');
  });
});
