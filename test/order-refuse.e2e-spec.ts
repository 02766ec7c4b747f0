import { expectFailure, MESSAGES } from './support/failure.js';
import { expectOrder, orderOf, type OrderBody, readOrder } from './support/orders.js';
import { useShop } from './support/shop.js';
import { inParallel, sortedStatusesOf } from './support/wait.js';

const REFUSED_BUT_PAID = { fulfilment: 'refused', status: 'settlement', refund_due: true };
const REFUSED_AND_CANCELLED = { fulfilment: 'refused', status: 'cancel', refund_due: false };

const shop = await useShop();

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
