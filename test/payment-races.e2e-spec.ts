import type { Response } from 'supertest';
import { untilLocked } from './support/databases.js';
import { storedOrder } from './support/notifications.js';
import {
  waitForChecks,
  bulkOrders,
  historyOf,
  sendNotificationOf,
  openShop,
  type Shop,
  loggedErrors,
  describeHistory,
} from './support/shop.js';

/** Point in time of the cancellation at which another action runs. */
const POINTS = ['before the call', 'before its effect', 'before its answer', 'after the answer'] as const;
type Point = (typeof POINTS)[number];

let shop: Shop;
/** Action and the point at which it runs. */
const plans = new Map<string, (point: Point) => Promise<void>>();

beforeAll(async () => {
  shop = await openShop();
  shop.gateway.beforeProcessing = async ({ operation, orderId }) => {
    if (operation === 'cancel') await plans.get(orderId ?? '')?.('before its effect');
  };
  shop.gateway.beforeAnswering = async ({ operation, orderId }) => {
    if (operation === 'cancel') await plans.get(orderId ?? '')?.('before its answer');
  };
});

afterAll(() => shop.close());

function cancel(orderId: string): Promise<Response> {
  return shop.customer.post(`/api/orders/${orderId}/cancel`).then((answer) => answer);
}

/** Starts a check of an order, also while another check runs. */
async function check(orderId: string): Promise<void> {
  await shop.service.database.pool.query(
    `SELECT graphile_worker.add_job('check-order', json_build_object('orderId', $1::text))`,
    [orderId],
  );
}

/**
 * Cancels an order and runs other actions at their points. Every point is passed once. If the cancellation is rejected
 * before it calls the gateway, the later points are passed afterwards.
 * @returns the HTTP status of the cancellation
 */
async function cancelAmid(orderId: string, plan: (point: Point) => Promise<void>): Promise<number> {
  const ahead = new Set<Point>(POINTS);
  const pass = async (point: Point): Promise<void> => {
    if (ahead.delete(point)) await plan(point);
  };
  plans.set(orderId, pass);
  await pass('before the call');
  const { status } = await cancel(orderId);
  for (const point of POINTS) await pass(point);
  plans.delete(orderId);
  return status;
}

/** Asserts that the order agrees with its history and with the gateway. */
async function expectConsistent(orderId: string): Promise<void> {
  const order = await storedOrder(shop.service, orderId);
  const applied = (await historyOf(shop, orderId)).filter(({ outcome }) => outcome === 'applied');
  expect(applied.at(-1)?.transaction_status).toBe(order.status);
  expect(applied.at(-1)?.transaction_id).toBe(order.transaction_id);
  expect(order.completed_at !== null).toBe(['settlement', 'capture'].includes(order.status));
  expect(order.status).toBe(shop.gateway.order(orderId).transactions.at(-1)?.status);
}

const ALL_PLACES = POINTS.flatMap((paid) =>
  POINTS.flatMap((told) => POINTS.map((checked) => ({ paid, told, checked }))),
)
  // No payment method has been chosen, so there is no notification.
  .filter(({ paid, told }) => POINTS.indexOf(told) >= POINTS.indexOf(paid));

describe('a race of settlement, cancellation and reconciliation', () => {
  it(`has one winner, which the history shows, in all ${ALL_PLACES.length} orders of payment, notification and check`, async () => {
    const orders = await bulkOrders(shop, ALL_PLACES.length);
    const won = { settlement: 0, cancel: 0 };
    await Promise.all(
      ALL_PLACES.map(async ({ paid, told, checked }, index) => {
        const orderId = orders[index] ?? '';
        shop.gateway.setStatus(orderId, 'pending');
        // A cancelled payment can no longer be settled.
        const isPayable = POINTS.indexOf(paid) < POINTS.indexOf('before its answer');
        const status = await cancelAmid(orderId, async (point) => {
          if (point === paid && isPayable) shop.gateway.settle(orderId);
          if (point === told) expect(await sendNotificationOf(shop, orderId)).toBe(200);
          if (point === checked) await check(orderId);
        });
        won[isPayable ? 'settlement' : 'cancel'] += 1;
        expect([orderId, status]).toEqual([orderId, isPayable ? 409 : 200]);
      }),
    );
    await waitForChecks(shop);
    expect(won.settlement).toBeGreaterThan(20);
    expect(won.cancel).toBeGreaterThan(5);
    for (const orderId of orders) {
      await expectConsistent(orderId);
      const lines = await describeHistory(shop, orderId);
      const ends = lines.filter((line) => /(settlement|cancel) applied$/.test(line));
      expect(ends).toHaveLength(1);
      expect(lines.filter((line) => line.startsWith('notification')).length).toBe(1);
    }
    expect(loggedErrors(shop.service)).toEqual([]);
  });

  it('ends with a cancelled order if the gateway cancels a captured payment, whenever the capture is notified', async () => {
    const places = POINTS.flatMap((told) => POINTS.map((checked) => ({ told, checked })));
    const orders = await bulkOrders(shop, places.length);
    await Promise.all(
      places.map(async ({ told, checked }, index) => {
        const orderId = orders[index] ?? '';
        shop.gateway.setStatus(orderId, 'capture', { paymentType: 'credit_card' });
        const capture = { transaction_status: 'capture', status_code: '200' };
        const status = await cancelAmid(orderId, async (point) => {
          if (point === told) expect(await sendNotificationOf(shop, orderId, capture)).toBe(200);
          if (point === checked && point !== 'before the call') await check(orderId);
        });
        // If the notification arrives first, the order is paid and its customer cannot cancel it.
        expect([told, status]).toEqual([told, told === 'before the call' ? 409 : 200]);
        expect(await sendNotificationOf(shop, orderId)).toBe(200);
      }),
    );
    await waitForChecks(shop);
    for (const orderId of orders) await expectConsistent(orderId);
    expect(loggedErrors(shop.service)).toEqual([]);
  });
});

describe('many orders at once', () => {
  it('get notifications, cancellations and checks in parallel without a 5xx or a deadlock', async () => {
    const orders = await bulkOrders(shop, 40);
    for (const orderId of orders) shop.gateway.setStatus(orderId, 'pending');
    await shop.service.database.pool.query(
      'UPDATE orders SET next_check_at = now() WHERE order_id = ANY ($1)',
      [orders],
    );
    const statuses = await Promise.all(
      orders.flatMap((orderId) => [
        sendNotificationOf(shop, orderId),
        sendNotificationOf(shop, orderId, { fraud_status: undefined }),
        cancel(orderId).then(({ status }) => status),
        sendNotificationOf(shop, orderId),
        shop.service.database.pool
          .query(`SELECT graphile_worker.add_job('find-due-orders', '{}'::json)`)
          .then(() => 200),
      ]),
    );
    expect([...new Set(statuses)].sort()).toEqual([200, 400]);
    await waitForChecks(shop);
    for (const orderId of orders) {
      await sendNotificationOf(shop, orderId);
      await expectConsistent(orderId);
    }
    expect(loggedErrors(shop.service)).toEqual([]);
    const { rows } = await shop.service.database.pool.query<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: '0' }]);
  });
});

describe('a notification that waits for the lock of its order', () => {
  /** Sends a notification while another transaction locks the order, and commits once the notification waits. */
  async function notifyAmid(orderId: string, change: string, values: readonly unknown[]): Promise<number> {
    const other = await shop.service.database.pool.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM orders WHERE order_id = $1 FOR UPDATE', [orderId]);
      await other.query(change, [...values]);
      const answer = sendNotificationOf(shop, orderId);
      await untilLocked(shop.service.database);
      await other.query('COMMIT');
      return await answer;
    } finally {
      other.release();
    }
  }

  it('is late if a later status of its transaction was applied in the meantime', async () => {
    const [orderId = ''] = await bulkOrders(shop, 1);
    const { transactionId } = shop.gateway.setStatus(orderId, 'pending');
    const status = await notifyAmid(
      orderId,
      `WITH changed AS (
         UPDATE orders SET status = 'settlement', transaction_id = $2, attempt_id = $1, completed_at = now()
         WHERE order_id = $1 RETURNING order_id)
       INSERT INTO payment_notifications (order_id, outcome, transaction_id, transaction_status, status_code,
         gross_amount, fraud_status, payload)
       SELECT order_id, 'applied', $2, 'settlement', '200', '370000.00', 'accept', '{}' FROM changed`,
      [orderId, transactionId],
    );
    expect(status).toBe(200);
    expect((await historyOf(shop, orderId)).map(({ outcome }) => outcome)).toEqual(['applied', 'late']);
    expect((await storedOrder(shop.service, orderId)).status).toBe('settlement');
  });

  it('is late if the order got another attempt in the meantime, and its redelivery is a duplicate', async () => {
    const [orderId = ''] = await bulkOrders(shop, 1);
    shop.gateway.setStatus(orderId, 'expire');
    const status = await notifyAmid(
      orderId,
      `WITH made AS (
         INSERT INTO payment_attempts (attempt_id, order_id, number) VALUES (gen_random_uuid(), $1, 2) RETURNING *)
       UPDATE orders SET attempt_id = made.attempt_id FROM made WHERE orders.order_id = made.order_id`,
      [orderId],
    );
    expect([status, await sendNotificationOf(shop, orderId)]).toEqual([200, 200]);
    expect((await historyOf(shop, orderId)).map(({ outcome }) => outcome)).toEqual(['late', 'duplicate']);
    expect((await storedOrder(shop.service, orderId)).status).toBe('pending');
  });
});
