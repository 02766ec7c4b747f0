import { buildFailure, GATEWAY_AWAY } from './support/failure.js';
import { orderOf, type OrderAnswer, pageOf } from './support/orders.js';
import { useShop } from './support/shop.js';

const ALREADY_REFUSED = buildFailure(409, 'the order cannot become refused');

const shop = useShop();

const requestRefusal = (orderId: string) => shop.setFulfilment(orderId, 'refused');

/** Refuses an order, which must succeed. If it fails, the assertion prints the response body. */
async function refuse(orderId: string): Promise<OrderAnswer> {
  const response = await requestRefusal(orderId);
  expect([response.status, response.body]).toEqual([200, response.body]);
  return orderOf(response);
}

async function readAsAdmin(orderId: string): Promise<OrderAnswer> {
  return orderOf(await shop.admin.get(`/api/admin/orders/${orderId}`).expect(200));
}

describe('refusing an order whose payment is pending', () => {
  it('cancels the payment at the gateway, so that the order can no longer be paid', async () => {
    const orderId = await shop.orderWithPayment();
    expect(await refuse(orderId)).toMatchObject({
      fulfilment: 'refused',
      status: 'cancel',
      refund_due: false,
      token: null,
      redirect_url: null,
    });
    expect(shop.gateway.order(orderId).transactions.at(-1)?.status).toBe('cancel');
    expect(await shop.describeHistory(orderId)).toEqual(['cancellation cancel applied']);
    expect((await shop.customer.post(`/api/orders/${orderId}/token`)).status).toBe(409);
    expect((await requestRefusal(orderId)).body).toEqual(ALREADY_REFUSED);
    expect(shop.countCalls('cancel', orderId)).toBe(1);
  });

  it('gets 502 and changes nothing while the gateway is unavailable', async () => {
    const orderId = await shop.orderWithPayment();
    await shop.gateway.down();
    expect((await requestRefusal(orderId)).body).toEqual(GATEWAY_AWAY);
    await shop.gateway.up();
    expect(await readAsAdmin(orderId)).toMatchObject({ fulfilment: 'new', status: 'pending' });
    await refuse(orderId);
  });

  it('makes a refund due if the order was paid in the meantime, until everything is refunded', async () => {
    const orderId = await shop.orderWithPayment('settlement', { paymentType: 'qris' });
    const due = { fulfilment: 'refused', status: 'settlement', refund_due: true };
    expect(await refuse(orderId)).toMatchObject(due);
    const partial = orderOf(await shop.requestRefund(orderId, { amount: 100_000 }));
    expect(partial).toMatchObject({ refunded_amount: 100_000, refund_due: true });
    const complete = orderOf(await shop.requestRefund(orderId));
    expect(complete).toMatchObject({ status: 'refund', refund_due: false });
  });

  it('makes a refund due, which the customer does not see, if a payment arrives afterwards', async () => {
    const orderId = await shop.orderTwoPieces();
    expect(await refuse(orderId)).toMatchObject({ status: 'cancel', refund_due: false });
    await shop.report(orderId, 'settlement');
    const due = { fulfilment: 'refused', status: 'settlement', refund_due: true };
    expect(await readAsAdmin(orderId)).toMatchObject(due);
    const shown = await shop.customer.get(`/api/orders/${orderId}`);
    expect(shown.body).not.toHaveProperty('data.order.refund_due');
  });

  it('is consistent among 50 parallel settlements, refusals and cancellations', async () => {
    const orderIds = await shop.insertOrders(10);
    await Promise.all(
      orderIds.map(async (orderId, index) => {
        const isPaid = index % 2 === 0;
        shop.gateway.setStatus(orderId, isPaid ? 'settlement' : 'pending', { paymentType: 'qris' });
        const [first, other, second, cancelled, third] = await Promise.all([
          requestRefusal(orderId),
          isPaid ? shop.sendNotification(orderId) : shop.cancel(orderId),
          requestRefusal(orderId),
          shop.cancel(orderId),
          requestRefusal(orderId),
        ]);
        expect([first, second, third].map(({ status }) => status).sort()).toEqual([200, 409, 409]);
        expect([200, 409]).toContain(other.status);
        expect(isPaid ? [409] : [200, 409]).toContain(cancelled.status);
        const status = isPaid ? 'settlement' : 'cancel';
        const expected = { fulfilment: 'refused', status, refund_due: isPaid };
        expect(await readAsAdmin(orderId)).toMatchObject(expected);
      }),
    );
  });
});

describe('refusing an order whose payment is not pending', () => {
  it('does not call the gateway', async () => {
    const orderId = await shop.orderTwoPieces();
    await shop.report(orderId, 'settlement');
    expect(await refuse(orderId)).toMatchObject({ status: 'settlement', refund_due: true });
    expect(shop.countCalls('cancel', orderId)).toBe(0);
  });

  it.each(['challenge', 'deny'])(
    'makes no refund due for a capture with fraud status %s',
    async (fraudStatus) => {
      const orderId = await shop.orderTwoPieces();
      await shop.report(orderId, 'capture', { paymentType: 'credit_card', fraudStatus });
      expect(await refuse(orderId)).toMatchObject({ status: 'capture', refund_due: false });
    },
  );
});

describe('GET /api/admin/orders', () => {
  const listIds = async (query: string): Promise<string[]> =>
    pageOf(await shop.admin.get(`/api/admin/orders?${query}`).expect(200)).orders.map(
      ({ order_id }) => order_id,
    );

  it('lists paid orders with paid=true, all others with paid=false, and open refunds with refund=due', async () => {
    const paid = await shop.orderTwoPieces();
    const due = await shop.orderTwoPieces();
    const doubtful = await shop.orderTwoPieces();
    const pending = await shop.orderTwoPieces();
    const returned = await shop.orderTwoPieces();
    for (const orderId of [paid, due, returned])
      await shop.report(orderId, 'settlement', { paymentType: 'qris' });
    await shop.report(doubtful, 'capture', { paymentType: 'credit_card', fraudStatus: 'challenge' });
    for (const orderId of [due, returned]) await refuse(orderId);
    await shop.requestRefund(returned);

    expect((await listIds('paid=true')).slice(0, 2)).toEqual([due, paid]);
    expect((await listIds('paid=false')).slice(0, 3)).toEqual([returned, pending, doubtful]);
    expect((await listIds('refund=due'))[0]).toBe(due);
    expect(await listIds('refund=due')).not.toContain(returned);
    expect((await listIds('paid=true&fulfilment=new'))[0]).toBe(paid);
    expect(await listIds(`paid=true&last_id=${due}`)).toEqual((await listIds('paid=true')).slice(1));
  });
});
