import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { expectOrder, type OrderBody, readOrder } from './support/orders.js';
import { GROSS_AMOUNT, useShop } from './support/shop.js';
import { inParallel, sortedStatusesOf } from './support/wait.js';

const NOT_REFUNDABLE = 'order cannot be refunded';
const REJECTED_BY_GATEWAY = 'the gateway cannot refund this payment';
const FULLY_REFUNDED = { status: 'refund', refunded_amount: GROSS_AMOUNT };

const shop = await useShop();

/** Requests a refund that must succeed. */
async function refund(orderId: string, body: object = {}, key?: string): Promise<OrderBody> {
  return expectOrder(await shop.requestRefund(orderId, body, key));
}

/** Places an order and pays it, by default with a method that the gateway refunds. */
async function placePaidOrder(paymentType = 'qris'): Promise<string> {
  const orderId = await shop.orderTwoPieces();
  const status = paymentType === 'credit_card' ? 'capture' : 'settlement';
  await shop.setStatusAndNotify(orderId, status, { paymentType });
  return orderId;
}

function listRefundAmountsAtGateway(orderId: string): number[] {
  const { transactions } = shop.gateway.order(orderId);
  return transactions.flatMap(({ refunds }) => refunds.map(({ amount }) => amount));
}

async function expectStatusAndRefund(orderId: string, status: string, refunded_amount: number) {
  expect(await readOrder(shop.customer, orderId)).toMatchObject({ status, refunded_amount });
}

describe('POST /api/admin/orders/{order_id}/refund', () => {
  it('refunds the whole payment at the gateway', async () => {
    const orderId = await placePaidOrder();
    expect(await refund(orderId, { reason: ' The oven broke ' })).toMatchObject({
      ...FULLY_REFUNDED,
      completed_at: null,
      refund_due: false,
      customer: { id: shop.userId },
    });
    const [call] = shop.gateway.listCalls('refund').filter((each) => each.orderId === orderId);
    expect(call?.id).toBe(shop.gateway.order(orderId).transactions[0]?.transactionId);
    expect(call?.body).toEqual({
      refund_key: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      amount: GROSS_AMOUNT,
      reason: 'The oven broke',
    });
    await shop.notify(orderId);
    expect(await shop.describeHistory(orderId)).toEqual([
      'notification settlement applied',
      'refund refund applied',
      'notification refund duplicate',
    ]);
    expectFailure(await shop.requestRefund(orderId), 409, NOT_REFUNDABLE);
  });

  it('refunds parts up to the total, each counted once although the gateway notifies of it', async () => {
    const orderId = await placePaidOrder();
    const partial = { status: 'partial_refund', refunded_amount: 70_000 };
    expect(await refund(orderId, { amount: 70_000 })).toMatchObject(partial);
    await shop.notify(orderId);
    await expectStatusAndRefund(orderId, 'partial_refund', 70_000);
    expect((await shop.setFulfilment(orderId, 'preparing')).status).toBe(200); // The order still counts as paid.

    expectFailure(await shop.requestRefund(orderId, { amount: 300_001 }), 409, NOT_REFUNDABLE);
    expect((await refund(orderId, { amount: 100_000 })).refunded_amount).toBe(170_000);
    await shop.notify(orderId);
    await expectStatusAndRefund(orderId, 'partial_refund', 170_000);
    expect(await refund(orderId)).toMatchObject(FULLY_REFUNDED);
    await shop.notify(orderId);
    await expectStatusAndRefund(orderId, 'refund', GROSS_AMOUNT);
    expect(listRefundAmountsAtGateway(orderId)).toEqual([70_000, 100_000, 200_000]);
  });

  it('counts a refund once if the gateway sends the notification before the response', async () => {
    const orderId = await placePaidOrder();
    shop.gateway.beforeResponse = async ({ operation }) => {
      if (operation === 'refund') await shop.notify(orderId);
    };
    expect(await refund(orderId, { amount: 70_000 })).toMatchObject({ refunded_amount: 70_000 });
    expect(await refund(orderId, { amount: 50_000 })).toMatchObject({ refunded_amount: 120_000 });
    await expectStatusAndRefund(orderId, 'partial_refund', 120_000);
  });

  it('records and logs the reason of the gateway if it rejects the refund, which can then be made by hand', async () => {
    const orderId = await placePaidOrder('bank_transfer');
    expectFailure(await shop.requestRefund(orderId), 409, REJECTED_BY_GATEWAY);
    const { order, notifications } = await shop.readAsAdmin(orderId);
    expect(order).toMatchObject({ status: 'settlement', refunded_amount: 0 });
    expect(notifications.at(-1)).toMatchObject({ outcome: 'rejected', source: 'refund' });
    const reason = 'Payment provider does not support refund';
    expect(notifications.at(-1)?.payload).toContain(reason);
    const warnings = shop.service.log.filter(({ level }) => level === 'warn').map(({ msg }) => String(msg));
    const message = new RegExp(`^refund \\S+ of order ${orderId} was rejected: .*${reason}`);
    expect(warnings.filter((warning) => message.test(warning))).toHaveLength(1);
    expect(await refund(orderId, { manual: true })).toMatchObject(FULLY_REFUNDED);
    expect(shop.countCalls('refund', orderId)).toBe(1); // Only the rejected request called the gateway.
  });

  it('counts manual refunds and refunds at the gateway together', async () => {
    const orderId = await placePaidOrder();
    await refund(orderId, { amount: 10_000, manual: true });
    expect((await refund(orderId, { amount: 20_000 })).refunded_amount).toBe(30_000);
    await shop.notify(orderId);
    await expectStatusAndRefund(orderId, 'partial_refund', 30_000);
    const nulls = { amount: null, reason: null, manual: null, transaction_id: null };
    expect(await refund(orderId, nulls)).toMatchObject(FULLY_REFUNDED); // Null is like a missing field.
    expect(listRefundAmountsAtGateway(orderId)).toEqual([20_000, 340_000]);
    // The gateway knows only 360,000 rupiah, so it reports a partial refund.
    await shop.notify(orderId);
    await expectStatusAndRefund(orderId, 'refund', GROSS_AMOUNT);
    expect((await shop.describeHistory(orderId)).at(-1)).toBe('notification partial_refund duplicate');
  });

  it('refunds a captured payment only as a whole, by cancelling it', async () => {
    const orderId = await placePaidOrder('credit_card');
    expectFailure(await shop.requestRefund(orderId, { amount: 1 }), 409, REJECTED_BY_GATEWAY);
    expect(await refund(orderId)).toMatchObject(FULLY_REFUNDED);
    const ids = shop.gateway
      .listCalls('cancel')
      .filter((each) => each.orderId === orderId)
      .map(({ id }) => id);
    expect(ids).toEqual([shop.gateway.order(orderId).transactions[0]?.transactionId]);
    expect(shop.gateway.statusOf(orderId)).toBe('cancel');
    await shop.notify(orderId);
    await expectStatusAndRefund(orderId, 'refund', GROSS_AMOUNT);
    expect((await shop.describeHistory(orderId)).at(-1)).toBe('notification cancel late');
  });

  it('refunds a payment that the gateway has settled, although the shop was only notified of its capture', async () => {
    const orderId = await placePaidOrder('credit_card');
    shop.gateway.settle(orderId);
    expect(await refund(orderId)).toMatchObject(FULLY_REFUNDED);
    expect(listRefundAmountsAtGateway(orderId)).toEqual([GROSS_AMOUNT]);
  });

  it.each(['pending', 'deny', 'expire', 'cancel', 'authorize'] as const)(
    'rejects an order of status %s with 409 without calling the gateway',
    async (status) => {
      const orderId = await shop.orderTwoPieces();
      await shop.setStatusAndNotify(orderId, status);
      for (const body of [{}, { manual: true }])
        expectFailure(await shop.requestRefund(orderId, body), 409, NOT_REFUNDABLE);
      for (const operation of ['refund', 'cancel'] as const)
        expect(shop.countCalls(operation, orderId)).toBe(0);
    },
  );

  it.each([
    ['amount', 'should be a whole number from 1', [0, -5, 1.5, '5', 1e300]],
    ['reason', 'should be a text of at most 255 characters', ['x'.repeat(256), 7, 'a\0b']],
    ['manual', 'should be true or false', ['yes']],
  ])('rejects a body whose %s is invalid: it %s', async (field, message, values) => {
    for (const value of values) {
      expectInvalid(await shop.requestRefund(randomUUID(), { [field]: value }), {
        [field]: `${field} ${message}`,
      });
    }
  });

  it.each([
    ['[{"amount":1000}]', 'application/json'],
    ['{"amount":1000}', 'text/plain'],
    ['{"amount":1000}', 'application/x-www-form-urlencoded'],
    ['{"amount":1000}', 'application/merge-patch+json'],
  ])(
    'rejects %s as %s, also in chunks, which would count as a request to refund everything',
    async (body, type) => {
      const request = () =>
        shop.admin.post(`/api/admin/orders/${randomUUID()}/refund`).set('Content-Type', type);
      expectFailure(await request().send(body), 400, MESSAGES.malformedRequest);
      const chunked = request();
      chunked.write(body); // Without `send`, superagent sends no Content-Length.
      expectFailure(await chunked, 400, MESSAGES.malformedRequest);
    },
  );

  it('rejects an Idempotency-Key of 256 characters', async () => {
    expectInvalid(await shop.requestRefund(randomUUID(), {}, 'x'.repeat(256)), {
      'idempotency-key': 'Idempotency-Key should have 1 to 255 characters',
    });
  });

  it('responds with 404 for an unknown order', async () => {
    for (const id of [randomUUID(), 'no-order'])
      expectFailure(await shop.requestRefund(id), 404, MESSAGES.notFound);
  });
});

describe('a refund with an Idempotency-Key', () => {
  it('is made once by 50 parallel requests, which all get the order', async () => {
    const orderId = await placePaidOrder();
    shop.gateway.beforeResponse = () => delay(3_000);
    const responses = await inParallel(50, () => refund(orderId, { amount: 50_000 }, 'key-1'));
    for (const order of responses) expect(order.refunded_amount).toBe(50_000);
    expect(shop.countCalls('refund', orderId)).toBe(1);
  });

  it('is rejected with 409 if the key was used with another body', async () => {
    const orderId = await placePaidOrder();
    await refund(orderId, { amount: 50_000 }, 'key-1');
    for (const change of [{ amount: undefined }, { amount: 50_001 }, { reason: 'other' }, { manual: true }]) {
      expectFailure(
        await shop.requestRefund(orderId, { amount: 50_000, ...change }, 'key-1'),
        409,
        MESSAGES.idempotencyKeyReused,
      );
    }
    await refund(orderId, { amount: 50_000 }, 'key-2');
    expect(listRefundAmountsAtGateway(orderId)).toEqual([50_000, 50_000]);
  });

  it('is not sent to the gateway again after a rejection', async () => {
    const orderId = await placePaidOrder('bank_transfer');
    for (let count = 0; count < 2; count += 1)
      expectFailure(await shop.requestRefund(orderId, {}, 'key-1'), 409, REJECTED_BY_GATEWAY);
    expect(shop.countCalls('refund', orderId)).toBe(1);
  });
});

describe('parallel requests', () => {
  it('for a whole payment without a key result in one refund, and the others get 409', async () => {
    const orderId = await placePaidOrder();
    expect(sortedStatusesOf(await inParallel(6, () => shop.requestRefund(orderId)))).toEqual([
      200, 409, 409, 409, 409, 409,
    ]);
    expect(listRefundAmountsAtGateway(orderId)).toEqual([GROSS_AMOUNT]);
  });

  it('for parts of a payment, at the gateway or by hand, never return more than was paid', async () => {
    const orderId = await placePaidOrder();
    const responses = await inParallel(12, (n) =>
      shop.requestRefund(orderId, { amount: 100_000, manual: n % 3 === 0 }, `key-${n}`),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(9);
    await expectStatusAndRefund(orderId, 'partial_refund', 300_000);
    expect(shop.service.listErrors()).toEqual([]);
  });
});

describe('a refund while the gateway fails', () => {
  it.each([false, true])(
    'is completed by a repeated request (the gateway rejects a repeated refund key: %s)',
    async (rejectsRepeatedRefundKeys) => {
      shop.gateway.rejectsRepeatedRefundKeys = rejectsRepeatedRefundKeys;
      for (const [body, key] of [[{}], [{ amount: 5_000 }], [{ amount: 6_000 }, 'key-1']] as const) {
        const orderId = await placePaidOrder();
        shop.gateway.addFault({ operation: 'refund', nth: 1, kind: 'response-lost' });
        expectFailure(await shop.requestRefund(orderId, body, key), 502, MESSAGES.gatewayUnavailable);
        await expectStatusAndRefund(orderId, 'settlement', 0);
        const order = await refund(orderId, body, key);
        expect(listRefundAmountsAtGateway(orderId)).toEqual([order.refunded_amount]);
        shop.gateway.clearFaults();
      }
    },
  );

  it.each([
    ['key-1', 'key-2'],
    [undefined, undefined],
  ])('is completed once, before the refund of the next request (keys %s and %s)', async (first, second) => {
    const orderId = await placePaidOrder();
    shop.gateway.addFault({ operation: 'refund', nth: 1, kind: 'error' });
    expect((await shop.requestRefund(orderId, { amount: 100_000 }, first)).status).toBe(502);
    expect((await refund(orderId, { amount: 30_000 }, second)).refunded_amount).toBe(130_000);
    expect(listRefundAmountsAtGateway(orderId)).toEqual([100_000, 30_000]);
    expect((await refund(orderId, { amount: 100_000 }, first)).refunded_amount).toBe(130_000);
  });

  it('is not repeated if an administrator has refunded everything on the dashboard of the gateway', async () => {
    const orderId = await placePaidOrder();
    shop.gateway.addFault({ operation: 'refund', nth: 1, kind: 'error' });
    expect((await shop.requestRefund(orderId, { amount: 70_000 })).status).toBe(502);
    await shop.setStatusAndNotify(orderId, 'refund');
    expect(await refund(orderId, { amount: 70_000 })).toMatchObject(FULLY_REFUNDED);
    // The request has returned nothing.
    expect(listRefundAmountsAtGateway(orderId)).toEqual([]);
    expect((await shop.readAsAdmin(orderId)).actions).toEqual([]);
  });

  it('counts beside a refund that was made on the dashboard meanwhile', async () => {
    const orderId = await placePaidOrder();
    shop.gateway.addFault({ operation: 'refund', nth: 1, kind: 'error' });
    expect((await shop.requestRefund(orderId, { amount: 40_000 })).status).toBe(502);
    const byDashboard = {
      transaction_status: 'partial_refund',
      status_code: '200',
      refund_amount: '30000.00',
    };
    await shop.notify(orderId, byDashboard);
    expect((await refund(orderId, { amount: 40_000 })).refunded_amount).toBe(70_000);
  });

  it('of a captured payment is completed by a repeated request after the cancellation', async () => {
    const orderId = await placePaidOrder('credit_card');
    shop.gateway.addFault({ operation: 'cancel', nth: 1, kind: 'response-lost' });
    expect((await shop.requestRefund(orderId)).status).toBe(502);
    await shop.notify(orderId); // of the cancellation, to which the response was lost
    expect(await refund(orderId)).toMatchObject(FULLY_REFUNDED);
  });

  it('is made once by a request after six parallel requests got 502', async () => {
    const orderId = await placePaidOrder();
    await shop.gateway.down();
    expect(sortedStatusesOf(await inParallel(6, () => shop.requestRefund(orderId)))).toEqual([
      502, 502, 502, 502, 502, 502,
    ]);
    await shop.gateway.up();
    expect((await refund(orderId)).status).toBe('refund');
    expect(listRefundAmountsAtGateway(orderId)).toEqual([GROSS_AMOUNT]);
  });
});

it('a notification of a refund sets refunded_amount to the sum of the refunds, up to the paid amount', async () => {
  const orderId = await placePaidOrder();
  const notify = (refund_amount: unknown, transaction_status = 'partial_refund'): Promise<void> =>
    shop.notify(orderId, { transaction_status, status_code: '200', refund_amount });
  await notify('50000.00');
  await expectStatusAndRefund(orderId, 'partial_refund', 50_000);
  await notify('120000.00');
  await notify('120000.00');
  await expectStatusAndRefund(orderId, 'partial_refund', 120_000);
  await notify('60000.00'); // delayed
  for (const invalidSum of [undefined, 'much', '-1', 5, '1e9']) await notify(invalidSum);
  await expectStatusAndRefund(orderId, 'partial_refund', 120_000);
  await notify('999999999.00');
  await expectStatusAndRefund(orderId, 'partial_refund', GROSS_AMOUNT);
  expectFailure(await shop.requestRefund(orderId), 409, NOT_REFUNDABLE);
  await notify(undefined, 'refund');
  await expectStatusAndRefund(orderId, 'refund', GROSS_AMOUNT);
});
