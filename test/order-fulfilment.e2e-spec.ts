import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { expectOrder, type OrderBody, orderOf, readOrder, userIdOf } from './support/orders.js';
import { useShop } from './support/shop.js';
import { inParallel, sortedStatusesOf } from './support/wait.js';

/** Steps to which a paid order can move, by its current step (contract 13.11). */
const NEXT_STEPS: Readonly<Record<string, readonly string[]>> = {
  new: ['preparing', 'refused'],
  preparing: ['ready', 'refused', 'new'],
  ready: ['collected', 'refused', 'preparing'],
  collected: ['ready'],
  refused: [],
};
const MOVES = Object.entries(NEXT_STEPS).flatMap(([from, next]) =>
  Object.keys(NEXT_STEPS).map((to) => [from, to, next.includes(to) ? 200 : 409] as const),
);
/** Statuses of unpaid orders, with the status after a refusal. */
const UNPAID = [
  ['pending', 'cancel'],
  ['authorize', 'cancel'],
  ...['deny', 'cancel', 'expire', 'failure', 'refund'].map((status) => [status, status] as const),
] as const;
const UNKNOWN_IDS = ['5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11', 'no-order'];
const UNKNOWN_STEP = { fulfilment: 'fulfilment should be one of new, preparing, ready, collected, refused' };
const REFUSED_BUT_PAID = { fulfilment: 'refused', status: 'settlement', refund_due: true };
const REFUSED_AND_CANCELLED = { fulfilment: 'refused', status: 'cancel', refund_due: false };

const shop = await useShop();

/** Stores an order with this fulfilment and status. Its payment attempt has no page. Returns the id of the order. */
async function storeOrder(fulfilment: string, status = 'settlement'): Promise<string> {
  const [orderId = ''] = await shop.insertOrdersWithoutPages(shop.customer, 1, status);
  await shop.query('UPDATE orders SET fulfilment = $2 WHERE order_id = $1', [orderId, fulfilment]);
  return orderId;
}

const cannotBecome = (step: string): string => `the order cannot become ${step}`;

describe('PUT /api/admin/orders/{order_id}/fulfilment', () => {
  it.each(MOVES)(
    'responds to %s → %s of a paid order with %d, and changes at most the fulfilment',
    async (from, to, status) => {
      const orderId = await storeOrder(from);
      const before = await readOrder(shop.customer, orderId);
      const response = await shop.setFulfilment(orderId, to);
      // Responses to administrators name the customer.
      const moved = { fulfilment: to, customer: { fullname: 'Ayu Lestari' } };
      if (status === 409) expectFailure(response, 409, cannotBecome(to));
      else expect(expectOrder(response)).toMatchObject(moved);
      const fulfilment = status === 200 ? to : from;
      expect(await readOrder(shop.customer, orderId)).toEqual({ ...before, fulfilment });
      const { actions } = await shop.readAsAdmin(orderId);
      const action = { action: to, by: { id: userIdOf(shop.admin) }, at: expect.any(String) as string };
      expect(actions).toMatchObject(status === 200 ? [action] : []);
    },
  );

  it.each(UNPAID)(
    'moves an unpaid order of status %s to refused (then %s), but not to preparing',
    async (status, after) => {
      const orderId = await storeOrder('new', status);
      expectFailure(await shop.setFulfilment(orderId, 'preparing'), 409, cannotBecome('preparing'));
      const refused = expectOrder(await shop.setFulfilment(orderId, 'refused'));
      // An unpaid order never needs a refund.
      expect(refused).toMatchObject({ fulfilment: 'refused', status: after, refund_due: false });
    },
  );

  it.each([
    ["status = 'partial_refund', refunded_amount = 100", 'cannot', 409],
    ["status = 'capture'", 'can', 200],
    ["status = 'capture', fraud_status = 'accept'", 'can', 200],
    ["status = 'capture', fraud_status = 'challenge'", 'cannot', 409],
    ["status = 'capture', fraud_status = 'deny'", 'cannot', 409],
  ])('an order of 100 rupiah with %s %s be prepared', async (change, _can, status) => {
    const orderId = await storeOrder('new');
    await shop.query(`UPDATE orders SET gross_amount = 100, ${change} WHERE order_id = $1`, [orderId]);
    expect((await shop.setFulfilment(orderId, 'preparing')).status).toBe(status);
  });

  it.each([undefined, null, '', 'baked', 'READY', ['ready'], 7])(
    'rejects the step %j with 400, also for an unknown order',
    async (step) => {
      for (const orderId of [await storeOrder('new'), ...UNKNOWN_IDS])
        expectInvalid(await shop.setFulfilment(orderId, step), UNKNOWN_STEP);
    },
  );

  it('returns 404 for an unknown order and for the id of a later payment attempt', async () => {
    const attemptId = await shop.addAttempt(await shop.insertOrder());
    for (const orderId of [...UNKNOWN_IDS, attemptId])
      for (const step of ['preparing', 'refused'])
        expectFailure(await shop.setFulfilment(orderId, step), 404, MESSAGES.notFound);
  });
});

const requestRefusal = (orderId: string) => shop.setFulfilment(orderId, 'refused');

/** Refuses an order, which must succeed. */
async function refuse(orderId: string): Promise<OrderBody> {
  return expectOrder(await requestRefusal(orderId));
}

describe('refusing an order whose payment is pending', () => {
  it('cancels the payment at the gateway, and succeeds only once', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    const withoutPage = { token: null, redirect_url: null };
    expect(await refuse(orderId)).toMatchObject({ ...REFUSED_AND_CANCELLED, ...withoutPage });
    expect(shop.gateway.statusOf(orderId)).toBe('cancel');
    expect(await shop.describeHistory(orderId)).toEqual(['cancellation cancel applied']);
    expectFailure(await requestRefusal(orderId), 409, 'the order cannot become refused');
    expect(shop.countCalls('cancel', orderId)).toBe(1);
  });

  it('gets 502 and changes nothing while the gateway is unavailable, and succeeds afterwards', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    await shop.gateway.down();
    expectFailure(await requestRefusal(orderId), 502, MESSAGES.gatewayUnavailable);
    await shop.gateway.up();
    expect((await shop.readAsAdmin(orderId)).order).toMatchObject({ fulfilment: 'new', status: 'pending' });
    await refuse(orderId);
  });

  it('makes a refund due, until everything is refunded, if the customer has paid meanwhile', async () => {
    const orderId = await shop.orderWithUnreportedPayment('settlement', { paymentType: 'qris' });
    expect(await refuse(orderId)).toMatchObject(REFUSED_BUT_PAID);
    const partial = orderOf(await shop.requestRefund(orderId, { amount: 100_000 }));
    expect(partial).toMatchObject({ refunded_amount: 100_000, refund_due: true });
    const complete = orderOf(await shop.requestRefund(orderId));
    expect(complete).toMatchObject({ status: 'refund', refund_due: false });
  });

  it('succeeds once in parallel with other refusals, cancellations and a notification', async () => {
    const orderIds = await shop.insertOrders(10);
    await Promise.all(
      orderIds.map(async (orderId, index) => {
        const isPaid = index % 2 === 0;
        shop.gateway.setStatus(orderId, isPaid ? 'settlement' : 'pending', { paymentType: 'qris' });
        const refusals = inParallel(3, () => requestRefusal(orderId));
        const cancellations = inParallel(2, () => shop.cancel(orderId));
        if (isPaid) await shop.notify(orderId);
        expect(sortedStatusesOf(await refusals)).toEqual([200, 409, 409]);
        for (const { status } of await cancellations) expect(isPaid ? [409] : [200, 409]).toContain(status);
        const expected = isPaid ? REFUSED_BUT_PAID : REFUSED_AND_CANCELLED;
        expect((await shop.readAsAdmin(orderId)).order).toMatchObject(expected);
      }),
    );
  });
});

it('a refused order shows no payment page, even if a payment becomes pending afterwards', async () => {
  const orderId = await shop.orderTwoPieces();
  await shop.setStatusAndNotify(orderId, 'deny');
  await refuse(orderId);
  await shop.setStatusAndNotify(orderId, 'pending', { transactionId: `T2-${orderId}` });
  const withoutPage = { pay_until: null, token: null, redirect_url: null };
  expect(await readOrder(shop.customer, orderId)).toMatchObject({ status: 'pending', ...withoutPage });
});

it.each([
  ['settlement', 'accept', 'settlement', true],
  ['capture', 'challenge', 'capture', false],
  ['capture', 'deny', 'capture', false],
  ['authorize', 'accept', 'cancel', false],
] as const)(
  'refusing an order with status %s and fraud status %s leaves the payment with the status %s, also at the gateway (refund due: %s)',
  async (status, fraudStatus, after, refund_due) => {
    const orderId = await shop.orderTwoPieces();
    await shop.setStatusAndNotify(orderId, status, { paymentType: 'credit_card', fraudStatus });
    expect(await refuse(orderId)).toMatchObject({ fulfilment: 'refused', status: after, refund_due });
    expect(shop.gateway.statusOf(orderId)).toBe(after);
    expect(shop.countCalls('cancel', orderId)).toBe(after === 'cancel' ? 1 : 0);
  },
);
