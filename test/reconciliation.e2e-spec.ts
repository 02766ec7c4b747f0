import { makeJobsDue } from './support/jobs.js';
import type { MidtransStatus, StatusChange } from './support/midtrans-stand-in.js';
import { NOTIFICATIONS_PATH, storedOrder } from './support/notifications.js';
import { fail } from './support/products.js';
import { startService } from './support/service.js';
import { gatewaySettings } from './support/orders.js';
import {
  addAttempt,
  age,
  allChecked,
  bulkOrders,
  calls,
  checksFailed,
  findDueOrders,
  notifyOf,
  openShop,
  placeOrder,
  reconcile,
  type Shop,
  story,
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
  // The next test does not see what this one left pending or given up.
  await shop.service.database.pool.query(
    `UPDATE orders SET next_check_at = 'infinity' WHERE status = 'pending';
     DELETE FROM graphile_worker._private_jobs WHERE attempts = max_attempts`,
  );
});

afterAll(() => shop.close());

async function statusOf(orderId: string): Promise<string> {
  return (await storedOrder(shop.service, orderId)).status;
}

/** Seconds until the gateway is to be asked about an order. */
async function dueIn(orderId: string): Promise<number> {
  const { rows } = await shop.service.database.pool.query<{ due_in: number }>(
    'SELECT extract(epoch FROM next_check_at - now())::float AS due_in FROM orders WHERE order_id = $1',
    [orderId],
  );
  return rows[0]?.due_in ?? NaN;
}

/** The only order of a list. */
async function oneOrder(): Promise<string> {
  const [orderId = ''] = await bulkOrders(shop, 1);
  return orderId;
}

/** Makes the order due now and looks for due orders. */
async function sweep(orderId: string): Promise<void> {
  await shop.service.database.pool.query('UPDATE orders SET next_check_at = now() WHERE order_id = $1', [
    orderId,
  ]);
  await findDueOrders(shop);
}

describe('when the gateway is asked', () => {
  it('not before 5 minutes, and only about pending orders', async () => {
    const orderId = await placeOrder(shop);
    const paid = await placeOrder(shop);
    shop.gateway.settle(paid);
    await notifyOf(shop, paid);
    await findDueOrders(shop);
    await allChecked(shop);
    expect(calls(shop, 'status', orderId)).toBe(0);
    await reconcile(shop, [orderId, paid], '290 seconds');
    expect(calls(shop, 'status', orderId)).toBe(0);
    await reconcile(shop, [orderId, paid], '10 seconds');
    expect(calls(shop, 'status', orderId)).toBe(1);
    expect(calls(shop, 'status', paid)).toBe(0);
  });

  it('the gaps grow to 6 hours, and one check falls on the 25th hour', async () => {
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
      await age(shop, [orderId], `${seconds} seconds`);
      await findDueOrders(shop);
      await allChecked(shop);
      expect(calls(shop, 'status', orderId)).toBe(gaps.length);
      expect(gaps.length).toBeLessThan(30);
    }
    expect(gaps).toEqual([5, 5, 10, 20, 40, 80, 160, 320, 360, 360, 140]);
    expect(aged / 3600).toBeCloseTo(25, 2);
  });

  it('two processes at once ask once about each order', async () => {
    const other = await startService({
      settings: gatewaySettings(shop.gateway),
      database: shop.service.database,
    });
    try {
      const orders = await bulkOrders(shop, 10);
      for (const orderId of orders) shop.gateway.settle(orderId);
      await age(shop, orders, '6 minutes');
      await Promise.all(Array.from({ length: 4 }, () => findWithoutKey()));
      await allChecked(shop);
      for (const orderId of orders) {
        expect(calls(shop, 'status', orderId)).toBe(1);
        expect(await story(shop, orderId)).toEqual(['reconciliation settlement applied']);
      }
    } finally {
      await other.stop();
    }
  });

  /** Without its key, so that several may run at once. */
  async function findWithoutKey(): Promise<void> {
    await shop.service.database.pool.query(`SELECT graphile_worker.add_job('find-due-orders', '{}'::json)`);
  }
});

describe('what it finds', () => {
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
    'with every notification dropped it alone brings orders to their true states: %s',
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
        expect(await story(shop, orderId)).toEqual(now === null ? [] : [`reconciliation ${now} applied`]);
      }
    },
  );

  it('what the gateway says now counts, though the same was heard before', async () => {
    const orderId = await oneOrder();
    const paid = shop.gateway.settle(orderId);
    await notifyOf(shop, orderId);
    // A second try to pay, after which the order is pending again while its first payment stands.
    await notifyOf(shop, orderId, {
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

  it('an answer that is older than a notification is not applied; the gateway is asked again', async () => {
    const orderId = await oneOrder();
    shop.gateway.settle(orderId);
    let isFirst = true;
    shop.gateway.beforeAnswering = async () => {
      if (!isFirst) return;
      isFirst = false;
      // The answer says settlement and is on its way.
      await notifyOf(shop, orderId);
      shop.gateway.setStatus(orderId, 'refund');
      await notifyOf(shop, orderId);
    };
    await reconcile(shop, [orderId]);
    expect(await storedOrder(shop.service, orderId)).toMatchObject({ status: 'refund', completed_at: null });
    expect(calls(shop, 'status', orderId)).toBe(2);
    expect(await story(shop, orderId)).toEqual([
      'notification settlement applied',
      'notification refund applied',
    ]);
  });
});

describe('several payment attempts', () => {
  it.each([
    ['the newest', 1],
    ['the oldest', 0],
  ])('%s was paid, the other one has expired: the order is paid', async (_which, index) => {
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
    // The expired one's own notification undoes nothing either.
    expect(await notifyOf(shop, attempts[1 - index] ?? '')).toBe(200);
    expect(await statusOf(orderId)).toBe('settlement');
  });

  it('an order that was paid twice stays paid when one payment is given back', async () => {
    const orderId = await oneOrder();
    const later = await addAttempt(shop, orderId);
    for (const id of [orderId, later]) {
      shop.gateway.settle(id);
      expect(await notifyOf(shop, id)).toBe(200);
    }
    shop.gateway.setStatus(orderId, 'refund');
    expect(await notifyOf(shop, orderId)).toBe(200);
    expect(await statusOf(orderId)).toBe('settlement');
    shop.gateway.setStatus(later, 'refund');
    expect(await notifyOf(shop, later)).toBe(200);
    expect(await storedOrder(shop.service, orderId)).toMatchObject({ status: 'refund', completed_at: null });
  });
});

describe('25 hours after its creation', () => {
  it('a pending order is expired at the gateway and here', async () => {
    const orders = await bulkOrders(shop, 2);
    const [chosen = '', unchosen = ''] = orders;
    shop.gateway.setStatus(chosen, 'pending');
    await reconcile(shop, orders, '24 hours 58 minutes');
    expect([await statusOf(chosen), await statusOf(unchosen)]).toEqual(['pending', 'pending']);
    expect(calls(shop, 'expire', chosen)).toBe(0);
    await reconcile(shop, orders, '6 minutes');
    expect([await statusOf(chosen), await statusOf(unchosen)]).toEqual(['expire', 'expire']);
    expect(shop.gateway.order(chosen).transactions[0]?.status).toBe('expire');
    expect(await story(shop, chosen)).toEqual([
      'reconciliation pending applied',
      'reconciliation expire applied',
    ]);
    expect(await story(shop, unchosen)).toEqual(['reconciliation expire applied']);
    expect(await notifyOf(shop, chosen)).toBe(200);
    expect((await story(shop, chosen)).at(-1)).toBe('notification expire duplicate');
    await shop.customer.post(`/api/orders/${chosen}/token`).expect(409);
  });

  it('an order that is paid while it is being expired stays paid', async () => {
    const orderId = await oneOrder();
    shop.gateway.setStatus(orderId, 'pending');
    shop.gateway.beforeProcessing = ({ operation }) => {
      if (operation === 'expire') shop.gateway.settle(orderId);
    };
    await reconcile(shop, [orderId], '26 hours');
    expect(calls(shop, 'expire', orderId)).toBe(1);
    expect(await statusOf(orderId)).toBe('settlement');
  });

  it('while the gateway is away, garbled or undecided an order is not expired, but later', async () => {
    const orderId = await oneOrder();
    shop.gateway.setStatus(orderId, 'pending');
    await age(shop, [orderId], '26 hours');
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
      await checksFailed(shop);
      expect(await statusOf(orderId)).toBe('pending');
      shop.gateway.clearFaults();
    }
    await makeJobsDue(shop.service.database.pool);
    await allChecked(shop);
    expect(await statusOf(orderId)).toBe('expire');
    expect(shop.gateway.order(orderId).transactions[0]?.status).toBe('expire');
  });
});

it('a check that was given up is made again when the order is next due', async () => {
  const orderId = await oneOrder();
  shop.gateway.settle(orderId);
  shop.gateway.fault({ operation: 'status', kind: 'error' });
  await sweep(orderId);
  await checksFailed(shop);
  const { rowCount } = await shop.service.database.pool.query(
    `UPDATE graphile_worker._private_jobs SET attempts = max_attempts WHERE key = $1`,
    [`check-order:${orderId}`],
  );
  expect(rowCount).toBe(1);
  shop.gateway.clearFaults();
  await sweep(orderId);
  await until('the sale is known', async () => (await statusOf(orderId)) === 'settlement');
  await allChecked(shop);
});

describe('a notification that is well signed and fails validation elsewhere', () => {
  it('each of 20 at once is refused and kept as rejected, and their sale is found at once', async () => {
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
    await allChecked(shop);
    const lines = await story(shop, orderId);
    expect(lines.filter((line) => line === 'notification - rejected')).toHaveLength(20);
    expect(lines.filter((line) => line.startsWith('reconciliation'))).toEqual([
      'reconciliation settlement applied',
    ]);
    expect(await storedOrder(shop.service, orderId)).toMatchObject({
      payment_type: 'cstore',
      fraud_status: null,
    });
  });

  it('an order that is not pending is checked too: a refund is found', async () => {
    const orderId = await oneOrder();
    shop.gateway.settle(orderId, { paymentType: 'cstore' });
    await reconcile(shop, [orderId]);
    shop.gateway.setStatus(orderId, 'refund');
    expect(await notifyOf(shop, orderId)).toBe(400);
    await until('the refund is known', async () => (await statusOf(orderId)) === 'refund');
    expect((await storedOrder(shop.service, orderId)).completed_at).toBeNull();
  });
});
