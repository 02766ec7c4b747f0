import { randomUUID } from 'node:crypto';
import {
  buildNotification,
  computeSignature,
  type Notification,
  NOTIFICATION_FIELDS,
  NOTIFICATIONS_PATH,
  readHistory,
  readStoredOrder,
  sendNotification,
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

/** Inserts an order and builds notifications of one transaction for it. */
async function orderWithTransaction() {
  const orderId = randomUUID();
  await service.database.pool.query(
    'INSERT INTO orders (order_id, user_id, gross_amount) VALUES ($1, $2, 185000)',
    [orderId, userId],
  );
  const transactionId = randomUUID();
  const build = (transaction_status: string, fields: Partial<Notification> = {}): Notification =>
    buildNotification({ order_id: orderId, transaction_id: transactionId, transaction_status, ...fields });
  return {
    orderId,
    transactionId,
    build,
    /** Sends a notification that the service must accept. */
    send: async (transaction_status: string, fields?: Partial<Notification>) => {
      await sendNotification(service, build(transaction_status, fields)).expect(200, '');
    },
    read: () => readStoredOrder(service, orderId),
    history: () => readHistory(service, orderId),
    outcomes: async () => (await readHistory(service, orderId)).map(({ outcome }) => outcome),
  };
}

describe('a notification', () => {
  it('is acknowledged with 200 and an empty body, and its cookies are ignored', async () => {
    const { build, read } = await orderWithTransaction();
    const client = service.client().setCookie('accessToken', 'garbage');
    const response = await client.post(NOTIFICATIONS_PATH).send(build('settlement')).expect(200);
    expect(response.text).toBe('');
    expect(response.headers).toMatchObject({ 'content-length': '0' });
    expect(response.headers).not.toHaveProperty('content-type');
    expect((await read()).status).toBe('settlement');
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
    const { send, read, history } = await orderWithTransaction();
    for (const status of statuses.split(' ')) await send(status);
    const events = await history();
    expect(events.map(({ outcome }) => outcome).join(' ')).toBe(expected);
    const { status, completed_at: completedAt } = await read();
    expect(status).toBe(events.findLast(({ outcome }) => outcome === 'applied')?.transaction_status);
    expect(completedAt !== null).toBe(['capture', 'settlement'].includes(status));
  });

  it('sets completed_at to the current time, and a settlement after a capture keeps that time', async () => {
    const { send, read } = await orderWithTransaction();
    const before = Date.now();
    await send('capture');
    const { completed_at: completedAt } = await read();
    expect(completedAt?.getTime()).toBeGreaterThanOrEqual(before);
    expect(completedAt?.getTime()).toBeLessThanOrEqual(Date.now());
    await send('settlement');
    expect((await read()).completed_at).toEqual(completedAt);
    await send('settlement', { transaction_id: randomUUID() });
    expect((await read()).completed_at).not.toEqual(completedAt);
  });

  it('stores payment type, fraud status (including challenge), transaction id and amount on the order', async () => {
    const { send, read, transactionId } = await orderWithTransaction();
    const fields = { payment_type: 'credit_card', fraud_status: 'challenge' };
    await send('capture', { ...fields, gross_amount: '185000.0' });
    expect(await read()).toMatchObject({
      ...fields,
      transaction_id: transactionId,
      transaction_amount: '185000.0',
      gross_amount: '185000',
    });
  });

  it('that is redelivered is stored and does not change the order', async () => {
    const { send, read, outcomes } = await orderWithTransaction();
    await send('settlement');
    const first = await read();
    // Other fields do not identify a redelivery.
    await send('settlement', { payment_type: 'gopay', transaction_time: '2026-11-21T10:00:00Z' });
    expect(await read()).toEqual(first);
    expect(await outcomes()).toEqual(['applied', 'duplicate']);
  });

  it('changes the order once if it arrives 60 times in parallel', async () => {
    const { send, outcomes } = await orderWithTransaction();
    await Promise.all(Array.from({ length: 60 }, () => send('settlement')));
    expect(await outcomes()).toEqual(['applied', ...Array.from({ length: 59 }, () => 'duplicate')]);
  });
});

describe('the stored notification', () => {
  it('contains the body as received, including undocumented fields', async () => {
    const { build, history } = await orderWithTransaction();
    const fields = Object.entries(build('settlement')).map(
      ([key, value]) => `  ${JSON.stringify(key)} :\t"${value}"`,
    );
    const received =
      `{\n${fields.join(',\n')},\n "va_numbers": [{"bank": "bca", "va_number": "812785002530231"}],` +
      ' "settlement_time":"2026-11-20 17:06:00", "note": "caf\\u00e9 ☕ \\u0000", "amount": 1.00 }';
    await sendNotification(service, received).expect(200, '');
    expect(await history()).toMatchObject([{ outcome: 'applied', payload: received }]);
  });

  it('is rolled back if the order cannot be updated', async () => {
    const { build, send, orderId, outcomes } = await orderWithTransaction();
    await service.database.pool.query(`
      CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the order cannot be written'; END $$;
      CREATE TRIGGER refuse_update BEFORE UPDATE ON orders
        FOR EACH ROW WHEN (NEW.order_id = '${orderId}') EXECUTE FUNCTION refuse_update();`);
    await sendNotification(service, build('settlement')).expect(500);
    expect(await outcomes()).toEqual([]);

    await service.database.pool.query('DROP FUNCTION refuse_update CASCADE');
    await send('settlement');
    expect(await outcomes()).toEqual(['applied']);
  });

  it('does not exist for a wrong signature, an unknown order or the dashboard test button', async () => {
    const { build } = await orderWithTransaction();
    const invalid = { transaction_status: 'chargeback' };
    const count = 'SELECT count(*) FROM payment_notifications';
    const { rows: before } = await service.database.pool.query(count);
    await sendNotification(service, build('chargeback', { signature_key: 'f'.repeat(128) })).expect(400);
    await sendNotification(service, buildNotification(invalid)).expect(400);
    const order_id = `payment_notif_test_G812785002_${randomUUID()}`;
    await sendNotification(service, buildNotification({ order_id })).expect(200, '');
    const unsigned = buildNotification({ order_id, signature_key: '0'.repeat(128) });
    const response = await sendNotification(service, unsigned).expect(400);
    expect(response.body).toEqual(fail(400, 'validation error', { order_id: 'order_id is invalid' }));
    expect((await service.database.pool.query(count)).rows).toEqual(before);
  });
});

describe('POST /api/products/payments', () => {
  async function expectDetails(body: object, details: Record<string, string>): Promise<void> {
    const response = await sendNotification(service, body).expect(400);
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
    const { build } = await orderWithTransaction();
    await expectDetails(build('settlement', { [field]: value }), { [field]: `${field} is invalid` });
  });

  it('reports all failing fields together', async () => {
    const forEachField = <T>(toValue: (field: string) => T) =>
      Object.fromEntries(NOTIFICATION_FIELDS.map((field) => [field, toValue(field)]));
    await expectDetails(
      {},
      forEachField((field) => `${field} is required`),
    );
    await expectDetails(
      forEachField(() => 200),
      forEachField((field) => `${field} should be a string`),
    );
  });

  it.each(['2026-11-20 17:05:12', '2026-11-20T17:05:12+07:00', '2026-11-20T10:05:12Z', '20261120T100512Z'])(
    'accepts transaction_time %s',
    async (transaction_time) => {
      const { send } = await orderWithTransaction();
      await send('settlement', { transaction_time });
    },
  );

  it('rejects a wrong signature with 403 and changes nothing', async () => {
    const { build, orderId, read, outcomes } = await orderWithTransaction();
    const good = build('settlement');
    const other = await orderWithTransaction();
    const wrong = [
      { ...good, signature_key: computeSignature(good, 'another server key') },
      { ...good, signature_key: 'f'.repeat(128) },
      { ...good, signature_key: good.signature_key.slice(0, -1) },
      { ...good, signature_key: `${good.signature_key}0` },
      { ...good, signature_key: 'x' },
      { ...good, gross_amount: '1.00' },
      // The same value, written differently.
      { ...good, gross_amount: '185000' },
      { ...good, order_id: orderId.toUpperCase() },
      { ...good, status_code: '201' },
      { ...good, order_id: other.orderId },
    ];
    for (const body of wrong) {
      const response = await sendNotification(service, body).expect(403);
      expect(response.body).toEqual(fail(403, 'invalid signature'));
    }
    expect((await read()).status).toBe('pending');
    expect(await outcomes()).toEqual([]);
  });

  it('finds the order also by an order_id in upper case', async () => {
    const { send, orderId, read } = await orderWithTransaction();
    await send('settlement', { order_id: orderId.toUpperCase() });
    expect((await read()).status).toBe('settlement');
  });

  it('responds with 404 for an unknown order', async () => {
    expect((await sendNotification(service, buildNotification()).expect(404)).body).toEqual(NOT_FOUND);
  });

  it('responds with 415 to UTF-16, because PostgreSQL cannot store its zero bytes', async () => {
    const { build, outcomes } = await orderWithTransaction();
    await service
      .client()
      .post(NOTIFICATIONS_PATH)
      .set('Content-Type', 'application/json; charset=utf-16le')
      .send(Buffer.from(JSON.stringify(build('settlement')), 'utf16le') as unknown as object)
      .serialize((body: unknown) => body as string)
      .expect(415);
    expect(await outcomes()).toEqual([]);
  });
});
