import type { Response } from 'supertest';
import type { Client } from './support/client.js';
import { GATEWAY_AWAY, orderOf, type OrderAnswer, pageOf } from './support/orders.js';
import { fail } from './support/products.js';
import {
  waitForChecks,
  bulkOrders,
  countGatewayCalls,
  sendNotificationOf,
  openShop,
  orderTwoPieces,
  type Shop,
  describeHistory,
} from './support/shop.js';

const ALREADY_REFUSED = fail(409, 'the order cannot become refused');

let shop: Shop;
let admin: Client;

beforeAll(async () => {
  shop = await openShop();
  admin = await shop.service.admin();
});

afterEach(() => {
  shop.gateway.clearFaults();
  shop.gateway.beforeProcessing = undefined;
});

afterAll(() => shop.close());

function refuse(orderId: string): Promise<Response> {
  return admin
    .put(`/api/admin/orders/${orderId}/fulfilment`)
    .send({ fulfilment: 'refused' })
    .then((answer) => answer);
}

function cancel(orderId: string): Promise<Response> {
  return shop.customer.post(`/api/orders/${orderId}/cancel`).then((answer) => answer);
}

async function shown(orderId: string): Promise<OrderAnswer> {
  return orderOf(await admin.get(`/api/admin/orders/${orderId}`).expect(200));
}

/** Places an order whose customer has chosen a payment method. */
async function chosenOrder(): Promise<string> {
  const orderId = await orderTwoPieces(shop);
  shop.gateway.setStatus(orderId, 'pending', { paymentType: 'qris' });
  return orderId;
}

describe('refusing an order whose payment is pending', () => {
  it('cancels the payment at the gateway, so that the order can no longer be paid', async () => {
    const orderId = await chosenOrder();
    const answer = await refuse(orderId);
    expect(answer.status).toBe(200);
    expect(orderOf(answer)).toMatchObject({
      fulfilment: 'refused',
      status: 'cancel',
      refund_due: false,
      token: null,
      redirect_url: null,
    });
    expect(shop.gateway.order(orderId).transactions.at(-1)?.status).toBe('cancel');
    expect(await describeHistory(shop, orderId)).toEqual(['cancellation cancel applied']);
    expect((await shop.customer.post(`/api/orders/${orderId}/token`)).status).toBe(409);
    expect((await refuse(orderId)).body).toEqual(ALREADY_REFUSED);
    expect(countGatewayCalls(shop, 'cancel', orderId)).toBe(1);
  });

  it('gets 502 and changes nothing while the gateway is unavailable', async () => {
    const orderId = await chosenOrder();
    await shop.gateway.down();
    const answer = await refuse(orderId);
    await shop.gateway.up();
    expect([answer.status, answer.body]).toEqual([502, GATEWAY_AWAY]);
    expect(await shown(orderId)).toMatchObject({ fulfilment: 'new', status: 'pending' });
    expect((await refuse(orderId)).status).toBe(200);
  });

  it('makes a refund due if the order was paid in the meantime, until everything is refunded', async () => {
    const orderId = await chosenOrder();
    shop.gateway.settle(orderId);
    const answer = await refuse(orderId);
    expect(answer.status).toBe(200);
    expect(orderOf(answer)).toMatchObject({ fulfilment: 'refused', status: 'settlement', refund_due: true });
    const refund = (body: object): Promise<Response> =>
      admin
        .post(`/api/admin/orders/${orderId}/refund`)
        .send(body)
        .then((each) => each);
    expect(orderOf(await refund({ amount: 100_000 }))).toMatchObject({ refund_due: true });
    expect(orderOf(await refund({}))).toMatchObject({ status: 'refund', refund_due: false });
  });

  it('makes a refund due if a payment arrives afterwards', async () => {
    const orderId = await orderTwoPieces(shop);
    expect(orderOf(await refuse(orderId))).toMatchObject({ status: 'cancel', refund_due: false });
    shop.gateway.settle(orderId);
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(await shown(orderId)).toMatchObject({
      fulfilment: 'refused',
      status: 'settlement',
      refund_due: true,
    });
    expect((await shop.customer.get(`/api/orders/${orderId}`)).body).not.toHaveProperty(
      'data.order.refund_due',
    );
  });

  it('is consistent among 50 parallel settlements, refusals and cancellations', async () => {
    const orderIds = await bulkOrders(shop, 10);
    const results = await Promise.all(
      orderIds.map(async (orderId, index) => {
        const isPaid = index % 2 === 0;
        shop.gateway.setStatus(orderId, isPaid ? 'settlement' : 'pending', { paymentType: 'qris' });
        return Promise.all([
          refuse(orderId),
          isPaid ? sendNotificationOf(shop, orderId).then((status) => ({ status })) : cancel(orderId),
          refuse(orderId),
          cancel(orderId),
          refuse(orderId),
        ]);
      }),
    );
    await waitForChecks(shop);
    for (const [index, [first, other, second, cancelled, third]] of results.entries()) {
      expect([first, second, third].map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      expect([200, 409]).toContain(other.status);
      expect(index % 2 === 0 ? [409] : [200, 409]).toContain(cancelled.status);
      const isPaid = index % 2 === 0;
      expect(await shown(orderIds[index] ?? '')).toMatchObject({
        fulfilment: 'refused',
        status: isPaid ? 'settlement' : 'cancel',
        refund_due: isPaid,
      });
    }
  });
});

describe('refusing an order whose payment is not pending', () => {
  it('does not call the gateway', async () => {
    const orderId = await chosenOrder();
    shop.gateway.settle(orderId);
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(orderOf(await refuse(orderId))).toMatchObject({ status: 'settlement', refund_due: true });
    expect(countGatewayCalls(shop, 'cancel', orderId)).toBe(0);
  });

  it.each(['challenge', 'deny'])(
    'makes no refund due for a capture with fraud status %s',
    async (fraudStatus) => {
      const orderId = await orderTwoPieces(shop);
      shop.gateway.setStatus(orderId, 'capture', { paymentType: 'credit_card', fraudStatus });
      expect(await sendNotificationOf(shop, orderId)).toBe(200);
      expect(orderOf(await refuse(orderId))).toMatchObject({ status: 'capture', refund_due: false });
    },
  );
});

describe('GET /api/admin/orders', () => {
  const idsOf = async (query: string): Promise<string[]> =>
    pageOf(await admin.get(`/api/admin/orders?${query}`).expect(200)).orders.map(({ order_id }) => order_id);

  it('lists paid orders with paid=true, all others with paid=false, and open refunds with refund=due', async () => {
    const paid = await chosenOrder();
    const due = await chosenOrder();
    const doubtful = await orderTwoPieces(shop);
    const pending = await orderTwoPieces(shop);
    const returned = await chosenOrder();
    for (const orderId of [paid, due, returned]) {
      shop.gateway.settle(orderId);
      expect(await sendNotificationOf(shop, orderId)).toBe(200);
    }
    shop.gateway.setStatus(doubtful, 'capture', { paymentType: 'credit_card', fraudStatus: 'challenge' });
    expect(await sendNotificationOf(shop, doubtful)).toBe(200);
    for (const orderId of [due, returned]) expect((await refuse(orderId)).status).toBe(200);
    await admin.post(`/api/admin/orders/${returned}/refund`).send({}).expect(200);

    expect((await idsOf('paid=true')).slice(0, 2)).toEqual([due, paid]);
    expect((await idsOf('paid=false')).slice(0, 3)).toEqual([returned, pending, doubtful]);
    expect((await idsOf('refund=due'))[0]).toBe(due);
    expect(await idsOf('refund=due')).not.toContain(returned);
    expect((await idsOf('paid=true&fulfilment=new'))[0]).toBe(paid);
    expect(await idsOf(`paid=true&last_id=${due}`)).toEqual((await idsOf('paid=true')).slice(1));
  });

  it.each([
    ['paid=yes', { paid: 'paid should be true or false' }],
    ['paid=', { paid: 'paid should be true or false' }],
    ['paid=true&paid=false', { paid: 'paid should be true or false' }],
    ['refund=none', { refund: 'refund should be due' }],
    ['refund=', { refund: 'refund should be due' }],
  ])('rejects %s with 400', async (query, details) => {
    const response: Response = await admin.get(`/api/admin/orders?${query}`).expect(400);
    expect(response.body).toEqual(fail(400, 'validation error', details));
  });
});
