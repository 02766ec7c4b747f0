import { randomUUID } from 'node:crypto';
import { makeJobsDue } from './support/jobs.js';
import { fail } from './support/products.js';
import { GROSS_AMOUNT, openShop, type Shop } from './support/shop.js';

const WRONG_AMOUNT = { gross_amount: "gross_amount is not the order's total" };
const WRONG_CODE = { status_code: 'status_code is not that of a completed payment' };
const WRONG_CURRENCY = { currency: 'currency should be IDR' };
const SETTLEMENT = { transaction_status: 'settlement', status_code: '200' };

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

afterAll(() => shop.close());

describe('a signed notification of a completed payment', () => {
  it.each([
    ['another amount', { gross_amount: '1.00' }, WRONG_AMOUNT],
    ['a negative amount', { gross_amount: '-370000.00' }, WRONG_AMOUNT],
    ['text as its amount', { gross_amount: 'free' }, WRONG_AMOUNT],
    ['leading zeros', { gross_amount: '0370000.00' }, WRONG_AMOUNT],
    ['an exponent', { gross_amount: '37e4' }, WRONG_AMOUNT],
    ['cents', { gross_amount: '370000.01' }, WRONG_AMOUNT],
    ['no digits after the point', { gross_amount: '370000.' }, WRONG_AMOUNT],
    ['the status code of a pending payment', { status_code: '201' }, WRONG_CODE],
    ['another currency', { currency: 'USD' }, WRONG_CURRENCY],
    ['a currency that is not a text', { currency: ['IDR'] }, WRONG_CURRENCY],
    [
      'a wrong amount, status code and currency',
      { gross_amount: '1', status_code: '202', currency: '' },
      { ...WRONG_AMOUNT, ...WRONG_CODE, ...WRONG_CURRENCY },
    ],
  ])(
    'is rejected and stored with %s, and the order is checked at the gateway',
    async (_what, fields, details) => {
      for (const transaction_status of ['settlement', 'capture']) {
        const orderId = await shop.orderWithPayment();
        const completion = { ...SETTLEMENT, transaction_status, ...fields };
        expect(await shop.sendNotification(orderId, completion)).toEqual({
          status: 400,
          body: fail(400, 'validation error', details),
        });
        await shop.waitForChecks();
        expect(shop.countCalls('status', orderId)).toBe(1);
        expect(await shop.describeHistory(orderId)).toContain('notification - rejected');
        expect(await shop.readStoredOrder(orderId)).toMatchObject({ status: 'pending', completed_at: null });
      }
    },
  );

  it.each([
    ['the amount 370000', { gross_amount: '370000' }],
    ['the amount 370000.0', { gross_amount: '370000.0' }],
    ['the amount 370000.0000', { gross_amount: '370000.0000' }],
    ['no currency', { currency: undefined }],
  ])('is applied with %s', async (_what, fields) => {
    const orderId = await shop.orderWithPayment();
    await shop.notify(orderId, { ...SETTLEMENT, ...fields });
    expect(await shop.readStatus(orderId)).toBe('settlement');
  });
});

it.each(['pending', 'deny', 'cancel', 'expire'])(
  'a notification with the status %s is applied with any amount',
  async (transaction_status) => {
    const orderId = await shop.orderWithPayment();
    await shop.notify(orderId, { transaction_status, gross_amount: '1.00' });
    expect(await shop.readStatus(orderId)).toBe(transaction_status);
  },
);

it('a status response with another amount does not complete the order, and the check is counted as failed', async () => {
  const orderId = await shop.insertOrder();
  shop.gateway.settle(orderId, { grossAmount: '1.00', transactionId: randomUUID() });
  await shop.letOrdersAge([orderId], '6 minutes');
  await shop.findDueOrders();
  await shop.waitForFailedCheck();
  expect(await shop.readStoredOrder(orderId)).toMatchObject({ status: 'pending', completed_at: null });
  expect((await shop.customer.post(`/api/orders/${orderId}/cancel`)).status).toBe(502);
  shop.gateway.settle(orderId, { grossAmount: `${GROSS_AMOUNT}.00` });
  await makeJobsDue(shop.service.database.pool);
  await shop.waitForChecks();
  expect(await shop.readStatus(orderId)).toBe('settlement');
});
