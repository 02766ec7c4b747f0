import { randomUUID } from 'node:crypto';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { readMetric } from './support/metrics.js';
import {
  buildNotification,
  computeSignature,
  type Notification,
  NOTIFICATION_FIELDS,
  NOTIFICATIONS_PATH,
  sendNotification,
} from './support/notifications.js';
import { useShop } from './support/shop.js';

const WRONG_AMOUNT = { gross_amount: "gross_amount is not the order's total" };
const WRONG_CODE = { status_code: 'status_code is not that of a completed payment' };
const WRONG_CURRENCY = { currency: 'currency should be IDR' };
const SETTLEMENT = { transaction_status: 'settlement', status_code: '200' };

const shop = await useShop();

describe('a notification', () => {
  it('is acknowledged with an empty 200, whatever cookies it has', async () => {
    const orderId = await shop.orderWithUnreportedPayment('settlement');
    const client = shop.service.client().setCookie('accessToken', 'garbage');
    const response = await client.post(NOTIFICATIONS_PATH).send(shop.gateway.notification(orderId));
    expect([response.status, response.text]).toEqual([200, '']);
    expect(response.headers).toMatchObject({ 'content-length': '0' });
    expect(response.headers).not.toHaveProperty('content-type');
    expect(await shop.readStatus(orderId)).toBe('settlement');
  });

  it('of a completed payment sets completed_at once', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    const readCompletion = async () => (await shop.readStoredOrder(orderId)).completed_at?.getTime();
    const began = Date.now();
    await shop.setStatusAndNotify(orderId, 'capture');
    const first = await readCompletion();
    expect(first).toBeGreaterThanOrEqual(began);
    expect(first).toBeLessThanOrEqual(Date.now());
    await shop.setStatusAndNotify(orderId, 'settlement');
    expect(await readCompletion()).toBe(first);
    await shop.setStatusAndNotify(orderId, 'settlement', { transactionId: randomUUID() });
    expect(await readCompletion()).toBe(first);
  });

  it('that is redelivered does not change the order', async () => {
    const orderId = await shop.orderWithUnreportedPayment('settlement');
    await shop.notify(orderId);
    const first = await shop.readStoredOrder(orderId);
    // A redelivery is recognized although these two fields differ.
    await shop.notify(orderId, { payment_type: 'gopay', transaction_time: '2026-11-21T10:00:00Z' });
    expect(await shop.readStoredOrder(orderId)).toEqual(first);
    expect(await shop.describeHistory(orderId)).toEqual([
      'notification settlement applied',
      'notification settlement duplicate',
    ]);
  });

  it('can begin with a byte order mark', async () => {
    const orderId = await shop.orderWithUnreportedPayment('settlement');
    const body = JSON.stringify(shop.gateway.notification(orderId));
    await sendNotification(shop.service, `\uFEFF${body}`).expect(200, '');
    expect(await shop.readStoredOrder(orderId)).toMatchObject({ payment_type: 'bank_transfer' });
  });

  it.each(['\ud800', '..'])(
    'with the transaction id %j does not prevent the cancellation of its order',
    async (transaction_id) => {
      const orderId = await shop.orderWithUnreportedPayment();
      await sendNotification(shop.service, shop.gateway.notification(orderId, { transaction_id }));
      await shop.waitForPaymentChecks();
      expect((await shop.cancel(orderId)).status).toBe(200);
    },
  );
});

describe('a signed notification of a completed payment', () => {
  it.each([
    ['another amount', { gross_amount: '1.00' }, WRONG_AMOUNT],
    ['a negative amount', { gross_amount: '-370000.00' }, WRONG_AMOUNT],
    ['text as its amount', { gross_amount: 'free' }, WRONG_AMOUNT],
    ['an amount with leading zeros', { gross_amount: '0370000.00' }, WRONG_AMOUNT],
    ['an amount with an exponent', { gross_amount: '37e4' }, WRONG_AMOUNT],
    ['an amount with cents', { gross_amount: '370000.01' }, WRONG_AMOUNT],
    ['an amount without digits after its point', { gross_amount: '370000.' }, WRONG_AMOUNT],
    ['the status code of a pending payment', { status_code: '201' }, WRONG_CODE],
    ['another currency', { currency: 'USD' }, WRONG_CURRENCY],
    ['a currency that is not a text', { currency: ['IDR'] }, WRONG_CURRENCY],
    // More values than the service copies from a body (`MAX_VALUES`).
    ['a currency of 900 values', { currency: Array<string>(900).fill('IDR') }, WRONG_CURRENCY],
    ['several wrong fields', { status_code: '202', currency: '' }, { ...WRONG_CODE, ...WRONG_CURRENCY }],
  ])('with %s is rejected, and the order is checked at the gateway', async (_what, fields, details) => {
    for (const transaction_status of ['settlement', 'capture']) {
      const orderId = await shop.orderWithUnreportedPayment();
      const completion = { ...SETTLEMENT, transaction_status, ...fields };
      expectInvalid(await shop.sendNotification(orderId, completion), details);
      await shop.waitForPaymentChecks();
      expect(shop.countCalls('status', orderId)).toBe(1);
      // A rejected notification is stored without a status. The check of the order may add a second entry.
      expect(await shop.describeHistory(orderId)).toContain('notification - rejected');
      expect(await shop.readStoredOrder(orderId)).toMatchObject({ status: 'pending', completed_at: null });
      const line = expect.stringContaining(`about order ${orderId} was rejected: `) as string;
      expect(shop.service.log).toContainEqual(expect.objectContaining({ level: 'warn', msg: line }));
    }
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['the amount 370000', { gross_amount: '370000' }],
    ['the amount 370000.0000', { gross_amount: '370000.0000' }],
    ['no currency', { currency: undefined }],
    ['the time 2026-11-20 17:05:12', { transaction_time: '2026-11-20 17:05:12' }],
    ['the time 2026-11-20T17:05:12+07:00', { transaction_time: '2026-11-20T17:05:12+07:00' }],
    ['the time 20261120T100512Z', { transaction_time: '20261120T100512Z' }],
  ])('with %s is applied', async (_what, fields) => {
    const orderId = await shop.orderWithUnreportedPayment();
    await shop.notify(orderId, { ...SETTLEMENT, ...fields });
    expect(await shop.readStatus(orderId)).toBe('settlement');
  });

  it('with the id of the order in upper case is applied', async () => {
    const orderId = await shop.orderWithUnreportedPayment();
    await shop.notify(orderId, { ...SETTLEMENT, order_id: orderId.toUpperCase() });
    expect(await shop.readStatus(orderId)).toBe('settlement');
  });
});

it.each(['pending', 'deny', 'cancel', 'expire'])(
  'a notification with the status %s is applied with any amount',
  async (transaction_status) => {
    const orderId = await shop.orderWithUnreportedPayment();
    await shop.notify(orderId, { transaction_status, gross_amount: '1.00' });
    expect(await shop.readStatus(orderId)).toBe(transaction_status);
    expect(await shop.describeHistory(orderId)).toEqual([`notification ${transaction_status} applied`]);
  },
);

describe('POST /api/products/payments', () => {
  async function expectRejected(body: object, details: Record<string, string>): Promise<void> {
    expectInvalid(await sendNotification(shop.service, body), details);
  }

  it.each<[keyof Notification, string]>([
    ['transaction_status', 'chargeback'],
    ['transaction_status', 'SETTLEMENT'],
    ['fraud_status', 'maybe'],
    ['order_id', 'not-a-uuid'],
    ['transaction_time', 'yesterday'],
    ['transaction_time', '2026-02-30 10:00:00'],
    ['transaction_id', 'x'.repeat(256)],
    ['payment_type', 'bank\0transfer'],
    ['payment_type', 'half of a pair \udc00'],
    ['gross_amount', '1'.repeat(33)],
    // The signature covers status_code and gross_amount as one text: a digit must not move between them.
    ['status_code', '2003'],
    ['status_code', '２００'],
  ])('rejects the field %s with the value %j', async (field, value) => {
    const orderId = await shop.orderWithUnreportedPayment('settlement');
    const body = shop.gateway.notification(orderId, { [field]: value });
    await expectRejected(body, { [field]: `${field} is invalid` });
  });

  it('reports all failing fields together', async () => {
    const messages = (problem: string) =>
      Object.fromEntries(NOTIFICATION_FIELDS.map((field) => [field, `${field} ${problem}`]));
    await expectRejected({}, messages('is required'));
    const numbers = Object.fromEntries(NOTIFICATION_FIELDS.map((field) => [field, 200]));
    await expectRejected(numbers, messages('should be a string'));
  });

  it('reports a wrong amount also if fraud_status is missing, and counts the notification as invalid', async () => {
    const orderId = await shop.orderWithUnreportedPayment('settlement');
    const body = shop.gateway.notification(orderId, { fraud_status: undefined, gross_amount: '1.00' });
    const details = { fraud_status: 'fraud_status is required', ...WRONG_AMOUNT };
    const countInvalid = () => readMetric('bakery_payment_notifications_total', { outcome: 'invalid' });
    const before = await countInvalid();
    await expectRejected(body, details);
    expect((await countInvalid()) - before).toBe(1);
  });

  it('stores nothing for an invalid body with a wrong signature', async () => {
    const orderId = await shop.orderTwoPieces();
    const forged = { transaction_status: 'chargeback', order_id: orderId, signature_key: 'f'.repeat(128) };
    await sendNotification(shop.service, buildNotification(forged)).expect(400);
    expect(await shop.describeHistory(orderId)).toEqual([]);
  });

  it('accepts a signed test notification of the gateway’s dashboard, which belongs to no order', async () => {
    const test = { order_id: `payment_notif_test_G812785002_${randomUUID()}` };
    await sendNotification(shop.service, buildNotification(test)).expect(200, '');
    const forged = buildNotification({ ...test, signature_key: '0'.repeat(128) });
    await expectRejected(forged, { order_id: 'order_id is invalid' });
  });

  it('rejects a wrong signature with 403', async () => {
    const orderId = await shop.orderWithUnreportedPayment('settlement');
    const good = shop.gateway.notification(orderId) as Notification;
    const wrong = [
      { ...good, signature_key: computeSignature(good, 'another server key') },
      { ...good, signature_key: 'f'.repeat(128) },
      { ...good, signature_key: good.signature_key.slice(0, -1) },
      { ...good, signature_key: `${good.signature_key}0` },
      { ...good, signature_key: 'x' },
      { ...good, signature_key: 'x', currency: Array<string>(900).fill('IDR') },
      { ...good, gross_amount: '1.00' },
      // The same amount, written differently.
      { ...good, gross_amount: '370000' },
      { ...good, order_id: orderId.toUpperCase() },
      { ...good, status_code: '201' },
      { ...good, order_id: await shop.orderTwoPieces() },
    ];
    for (const body of wrong) {
      expectFailure(await sendNotification(shop.service, body), 403, 'invalid signature');
    }
    expect(await shop.readStatus(orderId)).toBe('pending');
    expect(await shop.describeHistory(orderId)).toEqual([]);
  });

  it('responds with 404 for an unknown order, if all fields are valid', async () => {
    expectFailure(await sendNotification(shop.service, buildNotification()), 404, MESSAGES.notFound);
    const invalid = buildNotification({ transaction_status: 'chargeback' });
    await expectRejected(invalid, { transaction_status: 'transaction_status is invalid' });
  });

  it('responds with 415 to UTF-16', async () => {
    const orderId = await shop.orderWithUnreportedPayment('settlement');
    await shop.service
      .client()
      .post(NOTIFICATIONS_PATH)
      .set('Content-Type', 'application/json; charset=utf-16le')
      .send(Buffer.from(JSON.stringify(shop.gateway.notification(orderId)), 'utf16le') as unknown as object)
      .serialize((body: unknown) => body as string)
      .expect(415);
    expect(await shop.describeHistory(orderId)).toEqual([]);
  });
});
