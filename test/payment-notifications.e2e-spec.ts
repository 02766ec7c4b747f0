import { randomUUID } from 'node:crypto';
import {
  keptNotifications,
  makeOrder,
  NOTIFICATION_FIELDS,
  notification,
  type Notification,
  NOTIFICATIONS_PATH,
  notify,
  signatureKey,
  storedOrder,
} from './support/notifications.js';
import { userIdOf } from './support/orders.js';
import { fail, NOT_FOUND } from './support/products.js';
import { startService, type TestService } from './support/service.js';

let service: TestService;
let userId: number;

beforeAll(async () => {
  service = await startService();
  userId = userIdOf(await service.customer());
});

afterAll(() => service.stop());

/** Creates an order and builds notifications of one transaction for it. */
async function orderWithTransaction() {
  const orderId = await makeOrder(service, userId);
  const transactionId = randomUUID();
  return {
    orderId,
    transactionId,
    of: (transaction_status: string, fields: Partial<Notification> = {}): Notification =>
      notification({ order_id: orderId, transaction_id: transactionId, transaction_status, ...fields }),
  };
}

async function outcomes(orderId: string): Promise<string[]> {
  return (await keptNotifications(service, orderId)).map(({ outcome }) => outcome);
}

describe('a notification', () => {
  it('is acknowledged with 200 and an empty body, and its cookies are ignored', async () => {
    const { of, orderId } = await orderWithTransaction();
    const client = service.client().setCookie('accessToken', 'garbage');
    const response = await client.post(NOTIFICATIONS_PATH).send(of('settlement')).expect(200);
    expect(response.text).toBe('');
    expect(response.headers).toMatchObject({ 'content-length': '0' });
    expect(response.headers).not.toHaveProperty('content-type');
    expect((await storedOrder(service, orderId)).status).toBe('settlement');
  });

  it.each([
    ['pending authorize capture settlement', 'applied applied applied applied'],
    ['settlement settlement', 'applied duplicate'],
    ['settlement pending pending', 'applied late duplicate'],
    ['capture authorize pending', 'applied late late'],
    ['expire authorize', 'applied late'],
    ['settlement deny', 'applied applied'],
    ['settlement refund settlement', 'applied applied duplicate'],
    ['deny settlement partial_refund', 'applied applied applied'],
  ])('with statuses %s of one transaction has outcomes %s (contract 14)', async (statuses, expected) => {
    const { of, orderId } = await orderWithTransaction();
    for (const status of statuses.split(' ')) await notify(service, of(status)).expect(200, '');
    const kept = await keptNotifications(service, orderId);
    expect(kept.map(({ outcome }) => outcome).join(' ')).toBe(expected);
    const { status, completed_at: completedAt } = await storedOrder(service, orderId);
    expect(status).toBe(kept.findLast(({ outcome }) => outcome === 'applied')?.transaction_status);
    expect(completedAt !== null).toBe(['capture', 'settlement'].includes(status));
  });

  it('sets completed_at to the current time, and a settlement after a capture keeps that time', async () => {
    const { of, orderId } = await orderWithTransaction();
    const before = Date.now();
    await notify(service, of('capture')).expect(200);
    const { completed_at: completedAt } = await storedOrder(service, orderId);
    expect(completedAt?.getTime()).toBeGreaterThanOrEqual(before);
    expect(completedAt?.getTime()).toBeLessThanOrEqual(Date.now());
    await notify(service, of('settlement')).expect(200);
    expect((await storedOrder(service, orderId)).completed_at).toEqual(completedAt);
    await notify(service, of('settlement', { transaction_id: randomUUID() })).expect(200);
    expect((await storedOrder(service, orderId)).completed_at).not.toEqual(completedAt);
  });

  it('stores payment type, fraud status (including challenge), transaction id and amount on the order', async () => {
    const { of, orderId, transactionId } = await orderWithTransaction();
    await notify(
      service,
      of('capture', { payment_type: 'credit_card', fraud_status: 'challenge', gross_amount: '185000.0' }),
    ).expect(200);
    expect(await storedOrder(service, orderId)).toMatchObject({
      payment_type: 'credit_card',
      fraud_status: 'challenge',
      transaction_id: transactionId,
      transaction_amount: '185000.0',
      gross_amount: '185000',
    });
  });
});

describe('redelivered and concurrent notifications', () => {
  it('a redelivery is acknowledged and stored, and does not change the order', async () => {
    const { of, orderId } = await orderWithTransaction();
    await notify(service, of('settlement')).expect(200);
    const first = await storedOrder(service, orderId);
    // Other fields do not identify a redelivery.
    await notify(
      service,
      of('settlement', { payment_type: 'gopay', transaction_time: '2026-11-21T10:00:00Z' }),
    ).expect(200, '');
    expect(await storedOrder(service, orderId)).toEqual(first);
    expect(await outcomes(orderId)).toEqual(['applied', 'duplicate']);
  });

  it('60 identical notifications in parallel change the order once', async () => {
    const { of, orderId } = await orderWithTransaction();
    const body = of('settlement');
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => notify(service, body).then(({ status }) => status)),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
    const kept = await outcomes(orderId);
    expect(kept).toEqual(['applied', ...Array.from({ length: 59 }, () => 'duplicate')]);
  });

  it('different notifications of one order in parallel are applied one after another', async () => {
    const { of, orderId } = await orderWithTransaction();
    const statuses = ['pending', 'authorize', 'capture', 'settlement', 'deny', 'refund', 'partial_refund'];
    await Promise.all(
      statuses.flatMap((status) => [of(status), of(status)]).map((body) => notify(service, body).expect(200)),
    );

    const kept = await keptNotifications(service, orderId);
    expect(kept).toHaveLength(14);
    for (const status of statuses) {
      const ofStatus = kept.filter(({ transaction_status }) => transaction_status === status);
      expect(ofStatus.map(({ outcome }) => outcome)).toEqual([
        expect.stringMatching(/^(applied|late)$/),
        'duplicate',
      ]);
    }
    const lastApplied = kept.findLast(({ outcome }) => outcome === 'applied');
    const order = await storedOrder(service, orderId);
    expect(order.status).toBe(lastApplied?.transaction_status);
    expect(order.completed_at !== null).toBe(['capture', 'settlement'].includes(order.status));
  });
});

describe('the stored notification', () => {
  it('contains the body as received, including undocumented fields', async () => {
    const { of, orderId } = await orderWithTransaction();
    const fields = Object.entries(of('settlement')).map(
      ([key, value]) => `  ${JSON.stringify(key)} :\t"${value}"`,
    );
    const received =
      `{\n${fields.join(',\n')},\n "va_numbers": [{"bank": "bca", "va_number": "812785002530231"}],` +
      ' "settlement_time":"2026-11-20 17:06:00", "note": "caf\\u00e9 ☕ \\u0000", "amount": 1.00 }';
    await notify(service, received).expect(200, '');
    expect(await keptNotifications(service, orderId)).toMatchObject([
      { outcome: 'applied', payload: received },
    ]);
  });

  it('is rolled back if the order cannot be updated', async () => {
    const { of, orderId } = await orderWithTransaction();
    await service.database.pool.query(`
      CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the order cannot be written'; END $$;
      CREATE TRIGGER refuse_update BEFORE UPDATE ON orders
        FOR EACH ROW WHEN (NEW.order_id = '${orderId}') EXECUTE FUNCTION refuse_update();`);
    const body = of('settlement');
    await notify(service, body).expect(500);
    expect(await outcomes(orderId)).toEqual([]);

    await service.database.pool.query('DROP FUNCTION refuse_update CASCADE');
    await notify(service, body).expect(200);
    expect(await outcomes(orderId)).toEqual(['applied']);
  });

  it('does not exist for a wrong signature, an unknown order or the dashboard test button', async () => {
    const { of } = await orderWithTransaction();
    const bad = { transaction_status: 'chargeback' };
    const { rows: before } = await service.database.pool.query('SELECT count(*) FROM payment_notifications');
    await notify(service, { ...of('settlement', bad), signature_key: 'f'.repeat(128) }).expect(400);
    await notify(service, notification(bad)).expect(400);
    // The test button of the gateway's dashboard.
    const order_id = `payment_notif_test_G812785002_${randomUUID()}`;
    await notify(service, notification({ order_id })).expect(200, '');
    const unsigned = await notify(service, notification({ order_id, signature_key: '0'.repeat(128) })).expect(
      400,
    );
    expect(unsigned.body).toEqual(fail(400, 'validation error', { order_id: 'order_id is invalid' }));
    const { rows: after } = await service.database.pool.query('SELECT count(*) FROM payment_notifications');
    expect(after).toEqual(before);
  });
});

describe('POST /api/products/payments', () => {
  async function expectDetails(body: object | string, details: Record<string, string>): Promise<void> {
    const response = await notify(service, body).expect(400);
    expect(response.body).toEqual(fail(400, 'validation error', details));
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
    ['status_code', '2'.repeat(17)],
  ])('rejects the field %s with the value %j', async (field, value) => {
    const { of } = await orderWithTransaction();
    await expectDetails(of('settlement', { [field]: value }), { [field]: `${field} is invalid` });
  });

  it('reports all failing fields together', async () => {
    const all = Object.fromEntries(NOTIFICATION_FIELDS.map((field) => [field, `${field} is required`]));
    await expectDetails({}, all);
    const texts = Object.fromEntries(
      NOTIFICATION_FIELDS.map((field) => [field, `${field} should be a string`]),
    );
    await expectDetails(Object.fromEntries(NOTIFICATION_FIELDS.map((field) => [field, 200])), texts);
  });

  it.each(['2026-11-20 17:05:12', '2026-11-20T17:05:12+07:00', '2026-11-20T10:05:12Z', '20261120T100512Z'])(
    'accepts transaction_time %s',
    async (transaction_time) => {
      const { of } = await orderWithTransaction();
      await notify(service, of('settlement', { transaction_time })).expect(200, '');
    },
  );

  it('rejects a wrong signature with 403 and changes nothing', async () => {
    const { of, orderId } = await orderWithTransaction();
    const good = of('settlement');
    const wrong = [
      { ...good, signature_key: signatureKey(good, 'another server key') },
      { ...good, signature_key: 'f'.repeat(128) },
      { ...good, signature_key: good.signature_key.slice(0, -1) },
      { ...good, signature_key: `${good.signature_key}0` },
      { ...good, signature_key: 'x' },
      { ...good, gross_amount: '1.00' },
      { ...good, status_code: '201' },
      { ...good, order_id: await makeOrder(service, userId) },
    ];
    for (const body of wrong) {
      const response = await notify(service, body).expect(403);
      expect(response.body).toEqual(fail(403, 'invalid signature'));
    }
    expect((await storedOrder(service, orderId)).status).toBe('pending');
    expect(await outcomes(orderId)).toEqual([]);
  });

  it('rejects a value with 403 if it is written differently from the signed text', async () => {
    const { of, orderId } = await orderWithTransaction();
    const good = of('settlement');
    await notify(service, { ...good, gross_amount: '185000' }).expect(403);
    await notify(service, { ...good, order_id: orderId.toUpperCase() }).expect(403);
    await notify(service, of('settlement', { order_id: orderId.toUpperCase() })).expect(200);
    expect((await storedOrder(service, orderId)).status).toBe('settlement');
  });

  it('responds with 404 for an unknown order', async () => {
    expect((await notify(service, notification()).expect(404)).body).toEqual(NOT_FOUND);
  });
});

it('a notification in UTF-16 gets 415, because PostgreSQL cannot store its zero bytes', async () => {
  const { of, orderId } = await orderWithTransaction();
  await service
    .client()
    .post(NOTIFICATIONS_PATH)
    .set('Content-Type', 'application/json; charset=utf-16le')
    .send(Buffer.from(JSON.stringify(of('settlement')), 'utf16le') as unknown as object)
    .serialize((body: unknown) => body as string)
    .expect(415);
  expect(await outcomes(orderId)).toEqual([]);
});
