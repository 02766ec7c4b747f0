import { makeJobsDue } from './support/jobs.js';
import type { MidtransStatus, StatusChange } from './support/midtrans-stand-in.js';
import { NOTIFICATIONS_PATH, storedOrder } from './support/notifications.js';
import { fail } from './support/products.js';
import { startService } from './support/service.js';
import { gatewaySettings } from './support/orders.js';
import {
  addAttempt,
  letOrdersAge,
  waitForChecks,
  bulkOrders,
  countGatewayCalls,
  waitForFailedChecks,
  findDueOrders,
  sendNotificationOf,
  openShop,
  orderTwoPieces,
  reconcile,
  type Shop,
  describeHistory,
} from './support/shop.js';
import { until } from './support/wait.js';

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});

afterEach(async () => {
  shop.gateway.clearFaults();
  shop.gateway.beforeProcessing = undefined;
  shop.gateway.beforeAnswering = undefined;
  shop.gateway.answersTransactionIdAsOrderId = false;
  shop.gateway.httpStatusFollowsCode = false;
  // Later tests must not see pending orders or dead jobs of this one.
  await shop.service.database.pool.query(
    `UPDATE orders SET next_check_at = 'infinity' WHERE status = 'pending';
     DELETE FROM graphile_worker._private_jobs WHERE attempts = max_attempts`,
  );
});

afterAll(() => shop.close());

async function statusOf(orderId: string): Promise<string> {
  return (await storedOrder(shop.service, orderId)).status;
}

/** Returns the seconds until the next check of an order. */
async function dueIn(orderId: string): Promise<number> {
  const { rows } = await shop.service.database.pool.query<{ due_in: number }>(
    'SELECT extract(epoch FROM next_check_at - now())::float AS due_in FROM orders WHERE order_id = $1',
    [orderId],
  );
  return rows[0]?.due_in ?? NaN;
}

async function oneOrder(): Promise<string> {
  const [orderId = ''] = await bulkOrders(shop, 1);
  return orderId;
}

/** Makes the check of an order due and runs the sweep. */
async function sweep(orderId: string): Promise<void> {
  await shop.service.database.pool.query('UPDATE orders SET next_check_at = now() WHERE order_id = $1', [
    orderId,
  ]);
  await findDueOrders(shop);
}

describe('the check of a pending order', () => {
  it('runs 5 minutes after the creation, and only for pending orders', async () => {
    const orderId = await orderTwoPieces(shop);
    const paid = await orderTwoPieces(shop);
    shop.gateway.settle(paid);
    await sendNotificationOf(shop, paid);
    await findDueOrders(shop);
    await waitForChecks(shop);
    expect(countGatewayCalls(shop, 'status', orderId)).toBe(0);
    await reconcile(shop, [orderId, paid], '290 seconds');
    expect(countGatewayCalls(shop, 'status', orderId)).toBe(0);
    await reconcile(shop, [orderId, paid], '10 seconds');
    expect(countGatewayCalls(shop, 'status', orderId)).toBe(1);
    expect(countGatewayCalls(shop, 'status', paid)).toBe(0);
  });

  it('is repeated with gaps that grow to 6 hours, and 25 hours after the creation', async () => {
    const orderId = await oneOrder();
    const gaps: number[] = [];
    let aged = 0;
    for (
      let seconds = await dueIn(orderId);
      aged + seconds < 25 * 3600 + 30;
      seconds = await dueIn(orderId)
    ) {
      gaps.push(Math.round(seconds / 60));
      aged += seconds;
      await letOrdersAge(shop, [orderId], `${seconds} seconds`);
      await findDueOrders(shop);
      await waitForChecks(shop);
      expect(countGatewayCalls(shop, 'status', orderId)).toBe(gaps.length);
      expect(gaps.length).toBeLessThan(30);
    }
    expect(gaps).toEqual([5, 5, 10, 20, 40, 80, 160, 320, 360, 360, 140]);
    expect(aged / 3600).toBeCloseTo(25, 2);
  });

  it('calls the gateway once for each order when two processes sweep in parallel', async () => {
    const other = await startService({
      settings: gatewaySettings(shop.gateway),
      database: shop.service.database,
    });
    try {
      const orders = await bulkOrders(shop, 10);
      for (const orderId of orders) shop.gateway.settle(orderId);
      await letOrdersAge(shop, orders, '6 minutes');
      await Promise.all(Array.from({ length: 4 }, () => findWithoutKey()));
      await waitForChecks(shop);
      for (const orderId of orders) {
        expect(countGatewayCalls(shop, 'status', orderId)).toBe(1);
        expect(await describeHistory(shop, orderId)).toEqual(['reconciliation settlement applied']);
      }
    } finally {
      await other.stop();
    }
  });

  /** Without its key, so that several sweeps run in parallel. */
  async function findWithoutKey(): Promise<void> {
    await shop.service.database.pool.query(`SELECT graphile_worker.add_job('find-due-orders', '{}'::json)`);
  }
});

describe('the result of a check', () => {
  const FATES: readonly (readonly [now: MidtransStatus | null, change?: StatusChange])[] = [
    ['settlement'],
    ['capture', { paymentType: 'credit_card' }],
    ['deny', { paymentType: 'credit_card', fraudStatus: 'deny' }],
    ['expire'],
    ['refund'],
    ['authorize', { paymentType: 'credit_card' }],
    ['pending'],
    [null],
  ];

  it.each([
    ['HTTP status 200 for every code', false, false],
    ['HTTP status as the code', true, false],
    ['the transaction id for an order id', false, true],
  ])(
    'brings orders to the state of their payment without any notification (%s)',
    async (_what, httpStatusFollowsCode, answersTransactionIdAsOrderId) => {
      Object.assign(shop.gateway, { httpStatusFollowsCode, answersTransactionIdAsOrderId });
      const orders = await bulkOrders(shop, FATES.length);
      for (const [index, [now, change]] of FATES.entries())
        if (now !== null) shop.gateway.setStatus(orders[index] ?? '', now, change);
      await reconcile(shop, orders);
      for (const [index, [now]] of FATES.entries()) {
        const orderId = orders[index] ?? '';
        const order = await storedOrder(shop.service, orderId);
        expect(order.status).toBe(now ?? 'pending');
        expect(order.completed_at !== null).toBe(now === 'settlement' || now === 'capture');
        const transaction = shop.gateway.order(orderId).transactions.at(-1);
        expect(order).toMatchObject({
          transaction_id: transaction?.transactionId ?? null,
          payment_type: transaction?.paymentType ?? null,
          fraud_status: transaction?.fraudStatus ?? null,
        });
        expect(await describeHistory(shop, orderId)).toEqual(
          now === null ? [] : [`reconciliation ${now} applied`],
        );
      }
    },
  );

  it('is applied if it differs from the order, even if the same status was notified before', async () => {
    const orderId = await oneOrder();
    const paid = shop.gateway.settle(orderId);
    await sendNotificationOf(shop, orderId);
    // The second payment makes the order pending again although the first one is settled.
    await sendNotificationOf(shop, orderId, {
      transaction_id: '9aed5972-5b6a-401e-894b-a32c91ed1a3a',
      transaction_status: 'pending',
      status_code: '201',
    });
    expect(await statusOf(orderId)).toBe('pending');
    await reconcile(shop, [orderId], '26 hours');
    expect(await storedOrder(shop.service, orderId)).toMatchObject({
      status: 'settlement',
      transaction_id: paid.transactionId,
    });
  });

  it('is not applied if a notification arrived during the call; the check is repeated', async () => {
    const orderId = await oneOrder();
    shop.gateway.settle(orderId);
    let isFirst = true;
    shop.gateway.beforeAnswering = async () => {
      if (!isFirst) return;
      isFirst = false;
      // The response, not yet sent, says settlement.
      await sendNotificationOf(shop, orderId);
      shop.gateway.setStatus(orderId, 'refund');
      await sendNotificationOf(shop, orderId);
    };
    await reconcile(shop, [orderId]);
    expect(await storedOrder(shop.service, orderId)).toMatchObject({ status: 'refund', completed_at: null });
    expect(countGatewayCalls(shop, 'status', orderId)).toBe(2);
    expect(await describeHistory(shop, orderId)).toEqual([
      'notification settlement applied',
      'notification refund applied',
    ]);
  });
});

describe('an order with several payment attempts', () => {
  it.each([
    ['the newest', 1],
    ['the oldest', 0],
  ])('is paid if %s was paid and the other one has expired', async (_which, index) => {
    const orderId = await oneOrder();
    const attempts = [orderId, await addAttempt(shop, orderId)];
    for (const [position, id] of attempts.entries())
      shop.gateway.setStatus(id, position === index ? 'settlement' : 'expire');
    await reconcile(shop, [orderId]);
    const order = await storedOrder(shop.service, orderId);
    expect(order.status).toBe('settlement');
    expect(order.completed_at).not.toBeNull();
    expect(order.transaction_id).toBe(
      shop.gateway.order(attempts[index] ?? '').transactions[0]?.transactionId,
    );
    // The notification that the other attempt has expired does not change the order either.
    expect(await sendNotificationOf(shop, attempts[1 - index] ?? '')).toBe(200);
    expect(await statusOf(orderId)).toBe('settlement');
  });

  it('stays paid if it was paid twice and one payment is refunded', async () => {
    const orderId = await oneOrder();
    const later = await addAttempt(shop, orderId);
    for (const id of [orderId, later]) {
      shop.gateway.settle(id);
      expect(await sendNotificationOf(shop, id)).toBe(200);
    }
    shop.gateway.setStatus(orderId, 'refund');
    expect(await sendNotificationOf(shop, orderId)).toBe(200);
    expect(await statusOf(orderId)).toBe('settlement');
    shop.gateway.setStatus(later, 'refund');
    expect(await sendNotificationOf(shop, later)).toBe(200);
    expect(await storedOrder(shop.service, orderId)).toMatchObject({ status: 'refund', completed_at: null });
  });
});

describe('25 hours after the creation of an order', () => {
  it('the service expires the order and its payment at the gateway', async () => {
    const orders = await bulkOrders(shop, 2);
    const [chosen = '', unchosen = ''] = orders;
    shop.gateway.setStatus(chosen, 'pending');
    await reconcile(shop, orders, '24 hours 58 minutes');
    expect([await statusOf(chosen), await statusOf(unchosen)]).toEqual(['pending', 'pending']);
    expect(countGatewayCalls(shop, 'expire', chosen)).toBe(0);
    await reconcile(shop, orders, '6 minutes');
    expect([await statusOf(chosen), await statusOf(unchosen)]).toEqual(['expire', 'expire']);
    expect(shop.gateway.order(chosen).transactions[0]?.status).toBe('expire');
    expect(await describeHistory(shop, chosen)).toEqual([
      'reconciliation pending applied',
      'reconciliation expire applied',
    ]);
    expect(await describeHistory(shop, unchosen)).toEqual(['reconciliation expire applied']);
    expect(await sendNotificationOf(shop, chosen)).toBe(200);
    expect((await describeHistory(shop, chosen)).at(-1)).toBe('notification expire duplicate');
    await shop.customer.post(`/api/orders/${chosen}/token`).expect(409);
  });

  it('an order that is paid during the expiry stays paid', async () => {
    const orderId = await oneOrder();
    shop.gateway.setStatus(orderId, 'pending');
    shop.gateway.beforeProcessing = ({ operation }) => {
      if (operation === 'expire') shop.gateway.settle(orderId);
    };
    await reconcile(shop, [orderId], '26 hours');
    expect(countGatewayCalls(shop, 'expire', orderId)).toBe(1);
    expect(await statusOf(orderId)).toBe('settlement');
  });

  it('an order stays pending while the gateway fails, and expires afterwards', async () => {
    const orderId = await oneOrder();
    shop.gateway.setStatus(orderId, 'pending');
    await letOrdersAge(shop, [orderId], '26 hours');
    const refusal = { status: 200, body: { status_code: '412', status_message: 'cannot be updated' } };
    for (const fault of [
      { operation: 'status', kind: 'error' },
      { operation: 'status', kind: 'garbage' },
      { operation: 'expire', kind: 'error' },
      { operation: 'expire', kind: 'down' },
      { operation: 'expire', kind: 'answer', ...refusal },
      { operation: 'expire', kind: 'answer-lost' },
    ] as const) {
      shop.gateway.fault(fault);
      const asked = shop.gateway.callsOf(fault.operation).length;
      await sweep(orderId);
      await until('the gateway was asked', () => shop.gateway.callsOf(fault.operation).length > asked);
      await waitForFailedChecks(shop);
      expect(await statusOf(orderId)).toBe('pending');
      shop.gateway.clearFaults();
    }
    await makeJobsDue(shop.service.database.pool);
    await waitForChecks(shop);
    expect(await statusOf(orderId)).toBe('expire');
    expect(shop.gateway.order(orderId).transactions[0]?.status).toBe('expire');
  });
});

it('a dead check runs again when the next check of the order is due', async () => {
  const orderId = await oneOrder();
  shop.gateway.settle(orderId);
  shop.gateway.fault({ operation: 'status', kind: 'error' });
  await sweep(orderId);
  await waitForFailedChecks(shop);
  const { rowCount } = await shop.service.database.pool.query(
    `UPDATE graphile_worker._private_jobs SET attempts = max_attempts WHERE key = $1`,
    [`check-order:${orderId}`],
  );
  expect(rowCount).toBe(1);
  shop.gateway.clearFaults();
  await sweep(orderId);
  await until('the sale is known', async () => (await statusOf(orderId)) === 'settlement');
  await waitForChecks(shop);
});

describe('a signed notification that fails validation', () => {
  it('is rejected and stored, each of 20 in parallel, and a check finds the payment', async () => {
    const orderId = await oneOrder();
    shop.gateway.settle(orderId, { paymentType: 'cstore' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.gateway.notify(shop.service.url + NOTIFICATIONS_PATH, orderId)),
    );
    for (const { status, text } of answers)
      expect([status, JSON.parse(text)]).toEqual([
        400,
        fail(400, 'validation error', { fraud_status: 'fraud_status is required' }),
      ]);
    await until('the sale is known', async () => (await statusOf(orderId)) === 'settlement');
    await waitForChecks(shop);
    const lines = await describeHistory(shop, orderId);
    expect(lines.filter((line) => line === 'notification - rejected')).toHaveLength(20);
    expect(lines.filter((line) => line.startsWith('reconciliation'))).toEqual([
      'reconciliation settlement applied',
    ]);
    expect(await storedOrder(shop.service, orderId)).toMatchObject({
      payment_type: 'cstore',
      fraud_status: null,
    });
  });

  it('causes a check that finds a refund of a paid order', async () => {
    const orderId = await oneOrder();
    shop.gateway.settle(orderId, { paymentType: 'cstore' });
    await reconcile(shop, [orderId]);
    shop.gateway.setStatus(orderId, 'refund');
    expect(await sendNotificationOf(shop, orderId)).toBe(400);
    await until('the refund is known', async () => (await statusOf(orderId)) === 'refund');
    expect((await storedOrder(shop.service, orderId)).completed_at).toBeNull();
  });
});
