import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { wire, type WireAnswer } from './support/catalog.js';
import { createDatabase, type TestDatabase } from './support/databases.js';
import { closeLane, logLineOf, watchLane } from './support/lane.js';
import {
  keptNotifications,
  makeOrder,
  notification,
  type Notification,
  NOTIFICATIONS_PATH,
  notify,
  storedOrder,
} from './support/notifications.js';
import { sendRaw } from './support/raw-http.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

let database: TestDatabase;
/** With the lane, and without it. */
let fast: TestService;
let plain: TestService;
let tookLane: () => boolean;
let userId: number;

beforeAll(async () => {
  database = await createDatabase();
  fast = await startService({ database });
  plain = await startService({ database });
  closeLane(plain);
  tookLane = watchLane(fast);
  const registered = await fast.client().register({ email: 'payer@example.com' }).expect(201);
  userId = (registered.body as { data: { user: { id: number } } }).data.user.id;
  // The lane learns its headers.
  await notify(fast, notification({ order_id: await makeOrder(fast, userId) })).expect(200);
});

afterAll(async () => {
  await fast.stop();
  await plain.stop();
  await database.drop();
});

interface Variant {
  /** What is sent instead of the notification's JSON. */
  readonly body?: (sent: Notification) => Buffer | string;
  readonly headers?: OutgoingHttpHeaders;
  readonly fields?: Partial<Notification>;
  readonly path?: string;
  /** Notifications of the same transaction that came before. */
  readonly before?: readonly string[];
  readonly lane: boolean;
}

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

const VARIANTS: Readonly<Record<string, Variant>> = {
  'the first that is heard of an order': { lane: true },
  'a first pending': { fields: { transaction_status: 'pending' }, lane: true },
  'further fields': {
    body: (sent) => JSON.stringify({ ...sent, va_numbers: [{ bank: 'bca' }] }),
    lane: true,
  },
  'white space around it': { body: (sent) => ` \n${JSON.stringify(sent, null, 2)}\n`, lane: true },
  'a type with its charset': { headers: { 'content-type': 'application/json; charset=utf-8' }, lane: true },
  'the order id in capitals': { fields: { order_id: 'CAPITALS' }, lane: true },
  'the second that is heard': { before: ['pending'], lane: false },
  'the same again': { before: ['settlement'], lane: false },
  'a late one': { fields: { transaction_status: 'pending' }, before: ['settlement'], lane: false },
  'an unknown order': { fields: { order_id: randomUUID() }, lane: false },
  'an order id that is none': { fields: { order_id: 'x' }, lane: false },
  "the dashboard's test": { fields: { order_id: 'payment_notif_test_G1_a' }, lane: false },
  'a wrong signature': { fields: { signature_key: 'ab'.repeat(64) }, lane: false },
  'an unknown status': { fields: { transaction_status: 'paid' }, lane: false },
  'no field at all': { body: () => '{}', lane: false },
  'a list': { body: (sent) => JSON.stringify([sent]), lane: false },
  'no JSON': { body: () => '{"a":', lane: false },
  'a byte order mark': { body: (sent) => `\ufeff${JSON.stringify(sent)}`, lane: false },
  '31 levels within it': {
    body: (sent) => JSON.stringify(sent).replace('{', `{"a":${deep(31)},`),
    lane: true,
  },
  '40 levels within it': {
    body: (sent) => JSON.stringify(sent).replace('{', `{"a":${deep(40)},`),
    lane: false,
  },
  'a body of 99 KiB': { body: (sent) => JSON.stringify({ ...sent, a: 'x'.repeat(99 * 1024) }), lane: false },
  'a body of 101 KiB': {
    body: (sent) => JSON.stringify({ ...sent, a: 'x'.repeat(101 * 1024) }),
    lane: false,
  },
  'bytes that are no UTF-8': {
    body: (sent) => Buffer.from(JSON.stringify({ ...sent, payment_type: 'caf\u00e9' }), 'latin1'),
    lane: true,
  },
  'UTF-16': { headers: { 'content-type': 'application/json; charset=utf-16' }, lane: false },
  'another type': { headers: { 'content-type': 'text/plain' }, lane: false },
  'chunks without a length': { headers: { 'transfer-encoding': 'chunked' }, lane: false },
  'an encoding': { headers: { 'content-encoding': 'gzip' }, lane: false },
  'an expectation': { headers: { expect: 'a miracle' }, lane: false },
  'an allowed origin': { headers: { origin: 'http://localhost:5173' }, lane: false },
  'a foreign origin': { headers: { origin: 'https://evil.example' }, lane: false },
  'a cookie': { headers: { cookie: 'accessToken=garbage' }, lane: true },
  'an id of the caller': { headers: { 'x-request-id': 'midtrans-1' }, lane: true },
  'a query': { path: '?a=1', lane: false },
  'a slash at the end': { path: '/', lane: false },
};

/** What has to be the same on both ways: everything but the moment and what is made up. */
function comparable({ status, rawHeaders, body }: WireAnswer): unknown {
  const headers = rawHeaders.map((value, index) => {
    const name = rawHeaders[index - 1]?.toLowerCase();
    return index % 2 === 1 && (name === 'date' || name === 'x-request-id') ? 'differs' : value;
  });
  return { status, headers, body };
}

/** Sends a variant about an order of its own. @returns all that shows of it */
async function outcomeOf(service: TestService, variant: Variant) {
  const { fields = {}, before = [], headers = {}, path = '' } = variant;
  const orderId = await makeOrder(service, userId);
  const { order_id = orderId, ...others } = fields;
  const transaction_id = randomUUID();
  const fieldsOf = (own: Partial<Notification>): Notification =>
    notification({
      transaction_id,
      order_id: order_id === 'CAPITALS' ? orderId.toUpperCase() : order_id,
      ...own,
    });
  for (const transaction_status of before) await notify(plain, fieldsOf({ transaction_status })).expect(200);
  const sent = fieldsOf(others);
  const body = variant.body?.(sent) ?? JSON.stringify(sent);
  const answer = await wire(
    service.url,
    NOTIFICATIONS_PATH + path,
    {
      'content-type': 'application/json',
      ...(headers['transfer-encoding'] === undefined && { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
    'POST',
    body,
  );
  const took = tookLane();
  const {
    xmin: _version,
    transaction_id: paidBy,
    completed_at,
    ...order
  } = await storedOrder(service, orderId);
  const kept = await keptNotifications(service, orderId);
  return {
    took,
    answer: comparable(answer),
    log: await logLineOf(service, answer),
    order: { ...order, isOfTransaction: paidBy === transaction_id, isCompleted: completed_at !== null },
    kept: kept.map(({ outcome, transaction_status }) => [outcome, transaction_status]),
    keptAsSent: kept.map(({ payload }) => payload === body.toString()),
  };
}

describe('the lane of payment notifications', () => {
  it.each(Object.entries(VARIANTS))(
    'lane: %s is answered, applied, kept and logged as the whole pipeline does it',
    async (_what, variant) => {
      const { took, ...byLane } = await outcomeOf(fast, variant);
      const { took: _none, ...byPipeline } = await outcomeOf(plain, variant);
      expect(byLane).toEqual(byPipeline);
      expect(took).toBe(variant.lane);
    },
  );

  it('lane: 40 notifications of one order at once, each of another transaction, apply once each and lose none', async () => {
    const orderId = await makeOrder(fast, userId);
    await Promise.all(
      Array.from({ length: 40 }, () => notify(fast, notification({ order_id: orderId })).expect(200)),
    );
    const kept = await keptNotifications(fast, orderId);
    expect(kept.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 40 }, () => 'applied'));
    expect(await storedOrder(fast, orderId)).toMatchObject({
      status: 'settlement',
      transaction_id: kept.at(-1)?.transaction_id,
    });
  });

  it('lane: a body in two pieces is read whole, and the connection goes on', async () => {
    const orders = [await makeOrder(fast, userId), await makeOrder(fast, userId)];
    const bodies = orders.map((order_id) => JSON.stringify(notification({ order_id })));
    const requestOf = (body: string, more = ''): string =>
      `POST ${NOTIFICATIONS_PATH} HTTP/1.1\r\nHost: a\r\n${more}Content-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const bytes = requestOf(bodies[0] ?? '') + requestOf(bodies[1] ?? '', 'Connection: close\r\n');
    for (const cut of [bytes.indexOf('\r\n\r\n') + 4, bytes.indexOf('\r\n\r\n') + 40, bytes.length - 10]) {
      const answers = await sendRaw(fast.url, [bytes.slice(0, cut), bytes.slice(cut)]);
      expect(answers.map(({ status, body }) => [status, body])).toEqual([
        [200, ''],
        [200, ''],
      ]);
    }
    for (const orderId of orders) expect((await storedOrder(fast, orderId)).status).toBe('settlement');
  });

  it('lane: a caller that hangs up in its body is logged, and nothing is kept', async () => {
    const orderId = await makeOrder(fast, userId);
    const body = JSON.stringify(notification({ order_id: orderId }));
    const requestId = 'hangs-up';
    const { port } = new URL(fast.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST ${NOTIFICATIONS_PATH} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${requestId}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -5)}`,
      () => socket.destroy(),
    );
    await until('its log line', () => fast.log.find((line) => line.requestId === requestId));
    expect(await keptNotifications(fast, orderId)).toEqual([]);
  });

  it('lane: what goes wrong in it is answered as in the pipeline, without being tried again there', async () => {
    const orderId = await makeOrder(fast, userId);
    await database.pool.query('ALTER TABLE payment_notifications RENAME TO elsewhere');
    try {
      const requestId = 'a-broken-lane';
      const answer = await notify(fast, notification({ order_id: orderId }))
        .set('X-Request-Id', requestId)
        .expect(500);
      expect(answer.body).toMatchObject({ status: 'fail', errors: { code: 500 } });
      // Nest has one logger a process, the latest service's.
      const failures = plain.log.filter((line) => line.requestId === requestId && line.msg !== 'request');
      expect(failures).toHaveLength(1);
    } finally {
      await database.pool.query('ALTER TABLE elsewhere RENAME TO payment_notifications');
    }
    expect((await storedOrder(fast, orderId)).status).toBe('pending');
  });
});
