import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { Client } from './support/client.js';
import { jobRows, makeJobsDue } from './support/jobs.js';
import { GATEWAY_AWAY, KEY_REUSED, orderOf, type OrderAnswer, readOrder } from './support/orders.js';
import { fail, NOT_FOUND } from './support/products.js';
import {
  waitForChecks,
  bulkOrders,
  countGatewayCalls,
  loggedErrors,
  GROSS_AMOUNT,
  sendNotificationOf,
  openShop,
  orderTwoPieces,
  type Shop,
  describeHistory,
} from './support/shop.js';
import { until } from './support/wait.js';

const NOT_REFUNDABLE = fail(409, 'order cannot be refunded');
const GATEWAY_CANNOT = fail(409, 'the gateway cannot refund this payment');

let shop: Shop;
let admin: Client;
let otherAdmin: Client;

beforeAll(async () => {
  shop = await openShop();
  admin = await shop.service.admin();
  otherAdmin = await shop.service.admin();
});

afterEach(() => {
  shop.gateway.clearFaults();
  shop.gateway.rejectsRepeatedRefundKeys = false;
  shop.gateway.beforeAnswering = undefined;
});

afterAll(() => shop.close());

function refund(orderId: string, body: object = {}, key?: string, client = admin): Promise<Response> {
  const request = client.post(`/api/admin/orders/${orderId}/refund`);
  if (key !== undefined) void request.set('Idempotency-Key', key);
  return request.send(body).then((answer) => answer);
}

async function refunded(orderId: string, body: object = {}, key?: string): Promise<OrderAnswer> {
  const answer = await refund(orderId, body, key);
  expect([answer.status, answer.body]).toEqual([200, answer.body]);
  return orderOf(answer);
}

/** Places an order and pays it, by default with a method that the gateway refunds. */
async function paidOrder(paymentType = 'qris'): Promise<string> {
  const orderId = await orderTwoPieces(shop);
  shop.gateway.settle(orderId, { paymentType });
  expect(await sendNotificationOf(shop, orderId)).toBe(200);
  return orderId;
}

function refundsAtGateway(orderId: string): number[] {
  return shop.gateway
    .order(orderId)
    .transactions.flatMap(({ refunds }) => refunds.map(({ amount }) => amount));
}

async function stateOf(orderId: string): Promise<[status: string, refundedAmount: number]> {
  const { status, refunded_amount } = await readOrder(shop.customer, orderId);
  return [status, refunded_amount];
}

/** Runs the jobs that settle stored refunds. */
async function settleStored(): Promise<void> {
  await until('no refund waits for its result', async () => {
    await makeJobsDue(shop.service.database.pool);
    return (await jobRows(shop.service.database.pool, 'settle-refund')).length === 0;
  });
}

describe('POST /api/admin/orders/{order_id}/refund', () => {
  it('treats null like a field that is not sent', async () => {
    const orderId = await paidOrder();
    expect(await refunded(orderId, { amount: null, reason: null, manual: null })).toMatchObject({
      status: 'refund',
      refunded_amount: GROSS_AMOUNT,
    });
  });

  it('refunds the whole payment at the gateway with the reason, and records the refund', async () => {
    const orderId = await paidOrder();
    const order = await refunded(orderId, { reason: ' The oven broke ' });
    expect(order).toMatchObject({
      status: 'refund',
      refunded_amount: GROSS_AMOUNT,
      completed_at: null,
      refund_due: false,
      customer: { id: shop.userId },
    });
    const [call] = shop.gateway.callsOf('refund').filter((each) => each.orderId === orderId);
    expect(call?.body).toEqual({
      refund_key: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      amount: GROSS_AMOUNT,
      reason: 'The oven broke',
    });
    expect(await describeHistory(shop, orderId)).toEqual([
      'notification settlement applied',
      'refund refund applied',
    ]);
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect((await describeHistory(shop, orderId)).at(-1)).toBe('notification refund duplicate');
    expect((await refund(orderId)).body).toEqual(NOT_REFUNDABLE);
  });

  it('refunds parts up to the total, and their notifications do not count twice', async () => {
    const orderId = await paidOrder();
    expect(await refunded(orderId, { amount: 70_000 })).toMatchObject({
      status: 'partial_refund',
      refunded_amount: 70_000,
    });
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(await stateOf(orderId)).toEqual(['partial_refund', 70_000]);
    await admin.put(`/api/admin/orders/${orderId}/fulfilment`).send({ fulfilment: 'preparing' }).expect(200);

    expect((await refund(orderId, { amount: 300_001 })).body).toEqual(NOT_REFUNDABLE);
    expect((await refunded(orderId, { amount: 100_000 })).refunded_amount).toBe(170_000);
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(await stateOf(orderId)).toEqual(['partial_refund', 170_000]);
    expect(await refunded(orderId)).toMatchObject({ status: 'refund', refunded_amount: GROSS_AMOUNT });
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(await stateOf(orderId)).toEqual(['refund', GROSS_AMOUNT]);
    expect(refundsAtGateway(orderId)).toEqual([70_000, 100_000, 200_000]);
  });

  it('counts a refund once if its notification arrives before the response', async () => {
    const orderId = await paidOrder();
    shop.gateway.beforeAnswering = async ({ operation }) => {
      if (operation === 'refund') expect(await sendNotificationOf(shop, orderId)).toBe(200);
    };
    expect(await refunded(orderId, { amount: 70_000 })).toMatchObject({ refunded_amount: 70_000 });
    expect(await refunded(orderId, { amount: 50_000 })).toMatchObject({ refunded_amount: 120_000 });
    expect(await stateOf(orderId)).toEqual(['partial_refund', 120_000]);
  });

  it('only records a manual refund, which also works for a bank transfer', async () => {
    const orderId = await paidOrder('bank_transfer');
    expect((await refund(orderId)).body).toEqual(GATEWAY_CANNOT);
    expect(await stateOf(orderId)).toEqual(['settlement', 0]);
    const asked = countGatewayCalls(shop, 'refund', orderId);
    expect(await refunded(orderId, { amount: 20_000, manual: true })).toMatchObject({
      status: 'partial_refund',
      refunded_amount: 20_000,
    });
    expect(await refunded(orderId, { manual: true })).toMatchObject({
      status: 'refund',
      refunded_amount: GROSS_AMOUNT,
    });
    expect(countGatewayCalls(shop, 'refund', orderId)).toBe(asked);
    expect(await describeHistory(shop, orderId)).toEqual([
      'notification settlement applied',
      'refund partial_refund applied',
      'refund refund applied',
    ]);
  });

  it('adds manual refunds to the refunds at the gateway', async () => {
    const orderId = await paidOrder();
    await refunded(orderId, { amount: 10_000, manual: true });
    expect((await refunded(orderId, { amount: 20_000 })).refunded_amount).toBe(30_000);
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(await stateOf(orderId)).toEqual(['partial_refund', 30_000]);
    expect(refundsAtGateway(orderId)).toEqual([20_000]);
    expect((await refunded(orderId)).status).toBe('refund');
    expect(refundsAtGateway(orderId)).toEqual([20_000, 340_000]);
  });

  it('refunds all of a captured payment by cancelling it, and the notification of that is a duplicate', async () => {
    const orderId = await orderTwoPieces(shop);
    shop.gateway.setStatus(orderId, 'capture', { paymentType: 'credit_card' });
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect((await refund(orderId, { amount: 1 })).body).toEqual(GATEWAY_CANNOT);
    expect(await refunded(orderId)).toMatchObject({ status: 'refund', refunded_amount: GROSS_AMOUNT });
    expect(countGatewayCalls(shop, 'cancel', orderId)).toBe(1);
    expect(shop.gateway.order(orderId).transactions.at(-1)?.status).toBe('cancel');
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(await stateOf(orderId)).toEqual(['refund', GROSS_AMOUNT]);
    expect((await describeHistory(shop, orderId)).at(-1)).toBe('notification cancel duplicate');
  });

  it('refunds a captured payment that was settled before its notification arrived', async () => {
    const orderId = await orderTwoPieces(shop);
    shop.gateway.setStatus(orderId, 'capture', { paymentType: 'credit_card' });
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    shop.gateway.settle(orderId);
    expect(await refunded(orderId)).toMatchObject({ status: 'refund', refunded_amount: GROSS_AMOUNT });
    expect(refundsAtGateway(orderId)).toEqual([GROSS_AMOUNT]);
  });

  it.each(['pending', 'deny', 'expire', 'cancel', 'authorize'] as const)(
    'rejects an order of status %s with 409 without asking the gateway',
    async (status) => {
      const orderId = await orderTwoPieces(shop);
      shop.gateway.setStatus(orderId, status);
      expect(await sendNotificationOf(shop, orderId)).toBe(200);
      for (const body of [{}, { manual: true }]) {
        const answer = await refund(orderId, body);
        expect([answer.status, answer.body]).toEqual([409, NOT_REFUNDABLE]);
      }
      expect(countGatewayCalls(shop, 'refund', orderId)).toBe(0);
    },
  );

  it.each([
    [{ amount: 0 }, { amount: 'amount should be a whole number from 1' }],
    [{ amount: -5 }, { amount: 'amount should be a whole number from 1' }],
    [{ amount: 1.5 }, { amount: 'amount should be a whole number from 1' }],
    [{ amount: '5' }, { amount: 'amount should be a whole number from 1' }],
    [{ amount: 1e300 }, { amount: 'amount should be a whole number from 1' }],
    [{ reason: 'x'.repeat(256) }, { reason: 'reason should be a text of at most 255 characters' }],
    [{ reason: 7 }, { reason: 'reason should be a text of at most 255 characters' }],
    [{ reason: 'a\0b' }, { reason: 'reason should be a text of at most 255 characters' }],
    [{ manual: 'yes' }, { manual: 'manual should be true or false' }],
  ])('rejects %j with 400', async (body, details) => {
    const answer = await refund(randomUUID(), body);
    expect([answer.status, answer.body]).toEqual([400, fail(400, 'validation error', details)]);
  });

  it('responds with 404 for an unknown order', async () => {
    for (const id of [randomUUID(), 'no-order']) expect((await refund(id)).body).toEqual(NOT_FOUND);
  });
});

describe('a refund with an Idempotency-Key', () => {
  it('is made once by 50 parallel requests, and every one gets the order', async () => {
    const orderId = await paidOrder();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refund(orderId, { amount: 50_000 }, 'key-1')),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const answer of answers) expect(orderOf(answer).refunded_amount).toBe(50_000);
    expect(refundsAtGateway(orderId)).toEqual([50_000]);
    expect(countGatewayCalls(shop, 'refund', orderId)).toBe(1);
  });

  it('is rejected with 409 if the key was used with another body', async () => {
    const orderId = await paidOrder();
    await refunded(orderId, { amount: 50_000 }, 'key-1');
    for (const body of [
      {},
      { amount: 50_001 },
      { amount: 50_000, reason: 'other' },
      { amount: 50_000, manual: true },
    ]) {
      const answer = await refund(orderId, body, 'key-1');
      expect([answer.status, answer.body]).toEqual([409, KEY_REUSED]);
    }
    await refunded(orderId, { amount: 50_000 }, 'key-2');
    expect(refundsAtGateway(orderId)).toEqual([50_000, 50_000]);
  });

  it('gets the same rejection of the gateway again, without another call', async () => {
    const orderId = await paidOrder('bank_transfer');
    for (let count = 0; count < 2; count += 1)
      expect((await refund(orderId, {}, 'key-1')).body).toEqual(GATEWAY_CANNOT);
    expect(countGatewayCalls(shop, 'refund', orderId)).toBe(1);
  });

  it('with 256 characters is rejected', async () => {
    const details = { 'idempotency-key': 'Idempotency-Key should have 1 to 255 characters' };
    expect((await refund(randomUUID(), {}, 'x'.repeat(256))).body).toEqual(
      fail(400, 'validation error', details),
    );
  });
});

describe('parallel refunds', () => {
  it('six full refunds without a key are one refund and five rejections with 409', async () => {
    const orderId = await paidOrder();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => refund(orderId, {}, undefined, index % 2 ? otherAdmin : admin)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    for (const { status, body } of answers) if (status === 409) expect(body).toEqual(NOT_REFUNDABLE);
    expect(refundsAtGateway(orderId)).toEqual([GROSS_AMOUNT]);
  });

  it('one call of the gateway that takes 3 seconds is the result of six requests with the same key', async () => {
    const orderId = await paidOrder();
    shop.gateway.fault({ operation: 'refund', kind: 'late', afterMs: 3_000 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => refund(orderId, {}, 'key-1')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(shop.gateway.callsOf('refund').filter((call) => call.orderId === orderId)).toHaveLength(1);
  });

  it('partial and manual refunds never return more than was paid', async () => {
    const orderId = await paidOrder();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        refund(orderId, { amount: 100_000, manual: index % 3 === 0 }, `key-${index}`),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect(await stateOf(orderId)).toEqual(['partial_refund', 300_000]);
    expect(loggedErrors(shop.service)).toEqual([]);
  });
});

describe('a refund while the gateway fails', () => {
  it.each([false, true])(
    'is completed by the same call again after its response was lost (a repeated key is 406: %s)',
    async (rejectsRepeatedRefundKeys) => {
      shop.gateway.rejectsRepeatedRefundKeys = rejectsRepeatedRefundKeys;
      for (const [body, key] of [[{}], [{ amount: 5_000 }], [{ amount: 6_000 }, 'key-1']] as const) {
        const orderId = await paidOrder();
        shop.gateway.fault({ operation: 'refund', nth: 1, kind: 'answer-lost' });
        const lost = await refund(orderId, body, key);
        expect([lost.status, lost.body]).toEqual([502, GATEWAY_AWAY]);
        expect(await stateOf(orderId)).toEqual(['settlement', 0]);
        const order = await refunded(orderId, body, key);
        expect([order.refunded_amount]).toEqual(refundsAtGateway(orderId));
        const keys = shop.gateway.callsOf('refund').filter((call) => call.orderId === orderId);
        expect(new Set(keys.map((call) => (call.body as { refund_key: string }).refund_key)).size).toBe(1);
        shop.gateway.clearFaults();
      }
    },
  );

  it('does not block another refund: the stored one is settled first', async () => {
    const orderId = await paidOrder();
    shop.gateway.fault({ operation: 'refund', nth: 1, kind: 'error' });
    expect((await refund(orderId, { amount: 100_000 }, 'key-1')).status).toBe(502);
    expect((await refunded(orderId, { amount: 30_000 }, 'key-2')).refunded_amount).toBe(130_000);
    expect(refundsAtGateway(orderId)).toEqual([100_000, 30_000]);
    expect((await refunded(orderId, { amount: 100_000 }, 'key-1')).refunded_amount).toBe(130_000);
  });

  it('is settled by a job if the process dies after the call', async () => {
    const orderId = await paidOrder();
    shop.gateway.fault({ operation: 'refund', nth: 1, kind: 'answer-lost' });
    expect((await refund(orderId)).status).toBe(502);
    await settleStored();
    expect(await stateOf(orderId)).toEqual(['refund', GROSS_AMOUNT]);
    expect(refundsAtGateway(orderId)).toEqual([GROSS_AMOUNT]);
  });

  it('cancels a captured payment once although the first response was lost', async () => {
    const orderId = await orderTwoPieces(shop);
    shop.gateway.setStatus(orderId, 'capture', { paymentType: 'credit_card' });
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    shop.gateway.fault({ operation: 'cancel', nth: 1, kind: 'answer-lost' });
    expect((await refund(orderId)).status).toBe(502);
    // The gateway notifies of the cancellation before the administrator repeats the call.
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(await refunded(orderId)).toMatchObject({ status: 'refund', refunded_amount: GROSS_AMOUNT });
  });

  it('gets 502 for every waiting request, and is made once afterwards', async () => {
    const orderId = await paidOrder();
    await shop.gateway.down();
    const answers = await Promise.all(Array.from({ length: 6 }, () => refund(orderId)));
    await shop.gateway.up();
    expect(answers.map(({ status }) => status)).toEqual([502, 502, 502, 502, 502, 502]);
    expect((await refunded(orderId)).status).toBe('refund');
    expect(refundsAtGateway(orderId)).toEqual([GROSS_AMOUNT]);
  });
});

describe('notifications of refunds that were made at the gateway', () => {
  it('set refunded_amount to the sum at the gateway, which grows with every partial refund', async () => {
    const orderId = await paidOrder();
    const tell = (refund_amount: unknown, transaction_status = 'partial_refund'): Promise<number> =>
      sendNotificationOf(shop, orderId, { transaction_status, status_code: '200', refund_amount });
    expect(await tell('50000.00')).toBe(200);
    expect(await stateOf(orderId)).toEqual(['partial_refund', 50_000]);
    expect(await tell('120000.00')).toBe(200);
    expect(await tell('120000.00')).toBe(200);
    expect(await stateOf(orderId)).toEqual(['partial_refund', 120_000]);
    for (const other of [undefined, 'much', '-1', 5, '1e9']) expect(await tell(other)).toBe(200);
    expect(await stateOf(orderId)).toEqual(['partial_refund', 120_000]);
    expect(await tell('999999999.00')).toBe(200);
    expect(await stateOf(orderId)).toEqual(['partial_refund', GROSS_AMOUNT]);
    expect((await refund(orderId)).body).toEqual(NOT_REFUNDABLE);
    expect(await tell(undefined, 'refund')).toBe(200);
    expect(await stateOf(orderId)).toEqual(['refund', GROSS_AMOUNT]);
  });

  it('and parallel refunds of administrators never return more than was paid', async () => {
    const orderIds = await bulkOrders(shop, 10);
    await Promise.all(
      orderIds.map(async (orderId) => {
        shop.gateway.settle(orderId, { paymentType: 'gopay' });
        expect(await sendNotificationOf(shop, orderId)).toBe(200);
        const partial = { transaction_status: 'partial_refund', refund_amount: '1000.00' };
        const answers = await Promise.all([
          refund(orderId, { amount: 200_000 }),
          sendNotificationOf(shop, orderId, partial),
          refund(orderId, { amount: 200_000, manual: true }, undefined, otherAdmin),
          sendNotificationOf(shop, orderId, partial),
        ]);
        const made = answers.filter((answer) => typeof answer === 'object' && answer.status === 200);
        expect(made).toHaveLength(1);
        const statuses = answers.map((answer) => (typeof answer === 'object' ? answer.status : answer));
        expect(statuses.sort()).toEqual([200, 200, 200, 409]);
      }),
    );
    await waitForChecks(shop);
    for (const orderId of orderIds) expect((await stateOf(orderId))[1]).toBeLessThanOrEqual(GROSS_AMOUNT);
  });
});
