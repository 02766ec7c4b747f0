import { randomUUID } from 'node:crypto';
import type { Client } from './support/client.js';
import { keptNotifications, storedOrder } from './support/notifications.js';
import { fail } from './support/products.js';
import {
  waitForChecks,
  bulkOrders,
  countGatewayCalls,
  waitForFailedChecks,
  GROSS_AMOUNT,
  sendNotificationOf,
  openShop,
  orderTwoPieces,
  reconcile,
  type Shop,
  describeHistory,
} from './support/shop.js';

const WRONG_AMOUNT = "gross_amount is not the order's total";
const WRONG_CODE = 'status_code is not that of a completed payment';

let shop: Shop;
let admin: Client;

beforeAll(async () => {
  shop = await openShop();
  admin = await shop.service.admin();
});

afterAll(() => shop.close());

/** Sends a signed notification with the given fields. @returns status and body of the response */
async function send(
  orderId: string,
  fields: Record<string, unknown>,
): Promise<{ status: number; body: unknown }> {
  const url = `${shop.service.url}/api/products/payments`;
  const { status, text } = await shop.gateway.notify(url, orderId, fields);
  return { status, body: text === '' ? null : JSON.parse(text) };
}

/** Places an order whose customer has chosen a payment method and has not paid. */
async function pendingOrder(): Promise<string> {
  const orderId = await orderTwoPieces(shop);
  shop.gateway.setStatus(orderId, 'pending');
  return orderId;
}

describe('a signed notification of a completed payment', () => {
  it.each([
    ['another amount', { gross_amount: '1.00' }, { gross_amount: WRONG_AMOUNT }],
    ['a negative amount', { gross_amount: '-370000.00' }, { gross_amount: WRONG_AMOUNT }],
    ['text as its amount', { gross_amount: 'free' }, { gross_amount: WRONG_AMOUNT }],
    ['leading zeros', { gross_amount: '0370000.00' }, { gross_amount: WRONG_AMOUNT }],
    ['an exponent', { gross_amount: '37e4' }, { gross_amount: WRONG_AMOUNT }],
    ['cents', { gross_amount: '370000.01' }, { gross_amount: WRONG_AMOUNT }],
    ['no digits after the point', { gross_amount: '370000.' }, { gross_amount: WRONG_AMOUNT }],
    ['the status code of a pending payment', { status_code: '201' }, { status_code: WRONG_CODE }],
    ['another currency', { currency: 'USD' }, { currency: 'currency should be IDR' }],
    ['a currency that is not a text', { currency: ['IDR'] }, { currency: 'currency should be IDR' }],
    [
      'a wrong amount, status code and currency',
      { gross_amount: '1', status_code: '202', currency: '' },
      { gross_amount: WRONG_AMOUNT, status_code: WRONG_CODE, currency: 'currency should be IDR' },
    ],
  ])(
    'is rejected and stored with %s, and the order is checked at the gateway',
    async (_what, fields, details) => {
      for (const transaction_status of ['settlement', 'capture']) {
        const orderId = await pendingOrder();
        const completion = { transaction_status, status_code: '200', ...fields };
        expect(await send(orderId, completion)).toEqual({
          status: 400,
          body: fail(400, 'validation error', details),
        });
        await waitForChecks(shop);
        expect(countGatewayCalls(shop, 'status', orderId)).toBe(1);
        expect((await keptNotifications(shop.service, orderId)).map(({ outcome }) => outcome)).toContain(
          'rejected',
        );
        expect(await storedOrder(shop.service, orderId)).toMatchObject({
          status: 'pending',
          completed_at: null,
        });
        await admin
          .put(`/api/admin/orders/${orderId}/fulfilment`)
          .send({ fulfilment: 'preparing' })
          .expect(409);
      }
    },
  );

  it.each(['370000', '370000.0', '370000.00', '370000.0000'])(
    'is applied with the amount %s',
    async (gross_amount) => {
      const orderId = await pendingOrder();
      const completion = { transaction_status: 'settlement', status_code: '200', gross_amount };
      expect((await send(orderId, completion)).status).toBe(200);
      expect((await storedOrder(shop.service, orderId)).status).toBe('settlement');
    },
  );

  it('is applied without a currency', async () => {
    const orderId = await pendingOrder();
    shop.gateway.settle(orderId);
    expect(await sendNotificationOf(shop, orderId, { currency: undefined })).toBe(200);
    expect((await storedOrder(shop.service, orderId)).status).toBe('settlement');
  });

  it.each([
    ['2002', '0000.00'],
    ['20', '0370000.00'],
    ['2003', '70000.00'],
    ['', '200370000.00'],
    ['２００', '370000.00'],
  ])(
    'cannot reuse a signature with shifted boundaries: status code %j, amount %j',
    async (status_code, gross_amount) => {
      const orderId = await pendingOrder();
      const answer = await send(orderId, { transaction_status: 'settlement', status_code, gross_amount });
      expect(answer.status).toBe(400);
      expect(answer.body).toHaveProperty('errors.details.status_code');
      expect((await storedOrder(shop.service, orderId)).status).toBe('pending');
    },
  );

  it('is applied exactly once among 50 plausible and implausible ones in parallel', async () => {
    const orderId = await pendingOrder();
    shop.gateway.settle(orderId);
    const statuses = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        sendNotificationOf(shop, orderId, index % 2 === 0 ? {} : { gross_amount: '1.00' }),
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(25);
    expect(statuses.filter((status) => status === 400)).toHaveLength(25);
    await waitForChecks(shop);
    expect(
      (await describeHistory(shop, orderId)).filter((line) => line.endsWith('settlement applied')),
    ).toHaveLength(1);
    expect((await storedOrder(shop.service, orderId)).status).toBe('settlement');
  });
});

it('a notification of an incomplete payment is applied with any amount', async () => {
  for (const transaction_status of ['pending', 'deny', 'cancel', 'expire']) {
    const orderId = await pendingOrder();
    expect((await send(orderId, { transaction_status, gross_amount: '1.00' })).status).toBe(200);
    expect((await storedOrder(shop.service, orderId)).status).toBe(transaction_status);
  }
});

it('a status response with another amount does not complete the order, and the check is counted as failed', async () => {
  const [orderId = ''] = await bulkOrders(shop, 1);
  shop.gateway.settle(orderId, { grossAmount: '1.00', transactionId: randomUUID() });
  await shop.service.database.pool.query(
    "UPDATE orders SET next_check_at = now() - interval '1 minute' WHERE order_id = $1",
    [orderId],
  );
  await shop.service.database.pool.query(`SELECT graphile_worker.add_job('find-due-orders', '{}'::json)`);
  await waitForFailedChecks(shop);
  expect(await storedOrder(shop.service, orderId)).toMatchObject({ status: 'pending', completed_at: null });
  expect((await shop.customer.post(`/api/orders/${orderId}/cancel`)).status).toBe(502);
  await shop.service.database.pool.query(
    "DELETE FROM graphile_worker._private_jobs WHERE payload->>'orderId' = $1",
    [orderId],
  );
  shop.gateway.setStatus(orderId, 'settlement', { grossAmount: `${GROSS_AMOUNT}.00` });
  await reconcile(shop, [orderId]);
  expect((await storedOrder(shop.service, orderId)).status).toBe('settlement');
});
