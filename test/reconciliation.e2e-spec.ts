import { changeJobs, deleteJobs, makeJobsDue, waitForFailedJob } from './support/jobs.js';
import type { MidtransStatus, TransactionChange } from './support/midtrans-stand-in.js';
import { gatewaySettings, ORDERS, placeOrder, readOrder } from './support/orders.js';
import { useService } from './support/service.js';
import { useShop } from './support/shop.js';
import { inParallel, until } from './support/wait.js';

const shop = await useShop();

/** Later tests must not see pending orders or dead jobs of this one. */
afterEach(async () => {
  await shop.query("UPDATE orders SET next_check_at = 'infinity' WHERE status = 'pending'");
  await deleteJobs(shop.service.database.pool, 'check-order:%');
});

async function readSecondsUntilCheck(orderId: string): Promise<number> {
  const rows = await shop.query<{ seconds: number }>(
    'SELECT extract(epoch FROM next_check_at - now())::float AS seconds FROM orders WHERE order_id = $1',
    [orderId],
  );
  return rows[0]?.seconds ?? NaN;
}

/** Makes the check of an order due and starts it. */
async function startCheck(orderId: string): Promise<void> {
  await shop.query('UPDATE orders SET next_check_at = now() WHERE order_id = $1', [orderId]);
  await shop.enqueueDueOrderSearch();
}

describe('the check of an unpaid order', () => {
  it('runs after 5 minutes, then with gaps that grow to 6 hours, and 25 hours after the creation', async () => {
    const orderId = await shop.insertOrder();
    const insertedAt = performance.now();
    await shop.reconcile([orderId], '0 seconds'); // Checks nothing, because the order is not due yet.
    const gapsInMinutes = [5, 5, 10, 20, 40, 80, 160, 320, 360, 360, 140];
    let agedSeconds = 0;
    for (const [checks, minutes] of gapsInMinutes.entries()) {
      expect(shop.countCalls('status', orderId)).toBe(checks);
      const seconds = await readSecondsUntilCheck(orderId);
      expect([checks, Math.round(seconds / 60)]).toEqual([checks, minutes]);
      await shop.reconcile([orderId], `${seconds} seconds`);
      agedSeconds += seconds;
    }
    expect(shop.countCalls('status', orderId)).toBe(gapsInMinutes.length);
    const elapsedSeconds = (performance.now() - insertedAt) / 1000;
    expect((agedSeconds + elapsedSeconds) / 3600).toBeCloseTo(25, 2);
  });

  it('also runs when the order expires, although the usual gap is longer', async () => {
    const orderId = await shop.insertOrder({ payTime: '2 hours' });
    await shop.query('UPDATE orders SET checks = 10 WHERE order_id = $1', [orderId]);
    await shop.reconcile([orderId]);
    const minutes = Math.round((await readSecondsUntilCheck(orderId)) / 60);
    expect(minutes).toBe(174); // The order expires after three hours, and its first check came after six minutes.
  });

  it('is repeated every 5 minutes for an hour if the order has not expired, for example by the clock of a machine that is behind', async () => {
    const orderId = await shop.insertOrder();
    await shop.query('UPDATE orders SET checks = 10 WHERE order_id = $1', [orderId]);
    await shop.gateway.down();
    for (const [age, minutes] of [['25 hours 30 minutes', 5] as const, ['1 hour', 360] as const]) {
      await shop.letOrdersAge([orderId], age);
      await shop.enqueueDueOrderSearch();
      await until('the order is checked', async () => (await readSecondsUntilCheck(orderId)) > 0);
      expect(Math.round((await readSecondsUntilCheck(orderId)) / 60)).toBe(minutes);
    }
    await shop.gateway.up();
  });

  it('runs 5 minutes after a further payment page was opened, however long the last gap was', async () => {
    const customer = await shop.service.customer();
    const { order_id: orderId } = await placeOrder(customer, [{ product_id: shop.productId, quantity: 2 }]);
    const lastGap =
      "UPDATE orders SET checks = 10, next_check_at = now() + interval '6 hours' WHERE order_id = $1";
    await shop.query(lastGap, [orderId]);
    await shop.setStatusAndNotify(orderId, 'deny');
    await customer.post(`${ORDERS}/${orderId}/token`).expect(200);
    expect(Math.round((await readSecondsUntilCheck(orderId)) / 60)).toBe(5);
  });

  it('has long gaps again after the time to pay while a card payment is authorized, because such a payment does not expire', async () => {
    const orderId = await shop.insertOrder();
    await shop.setStatusAndNotify(orderId, 'authorize', { paymentType: 'credit_card' });
    await shop.query('UPDATE orders SET checks = 10 WHERE order_id = $1', [orderId]);
    await shop.reconcile([orderId], '30 hours');
    expect(Math.round((await readSecondsUntilCheck(orderId)) / 60)).toBe(360);
  });

  it.each([
    ['7 days after the time to pay if a payment was denied', 'deny', '194 hours'],
    ['once the order is paid', 'settlement', '6 minutes'],
  ] as const)('is no longer made %s', async (_when, status, interval) => {
    const orderId = await shop.insertOrder();
    await shop.setStatusAndNotify(orderId, status);
    await shop.reconcile([orderId], interval);
    expect(shop.countCalls('status', orderId)).toBe(0);
  });

  it('calls the gateway once for each order, also if two instances of the service search in parallel', async () => {
    const settings = gatewaySettings(shop.gateway);
    await useService({ database: shop.service.database, settings });
    const orders = await shop.insertOrders(10);
    for (const orderId of orders) shop.gateway.settle(orderId);
    await shop.letOrdersAge(orders, '6 minutes');
    await inParallel(4, () => shop.enqueueDueOrderSearch());
    await shop.waitForPaymentChecks();
    for (const orderId of orders) {
      expect(shop.countCalls('status', orderId)).toBe(1);
      expect(await shop.describeHistory(orderId)).toEqual(['reconciliation settlement applied']);
    }
  });
});

describe('the result of a check', () => {
  /** Payments at the gateway; null if the customer chose no payment method. */
  const PAYMENTS: readonly (readonly [MidtransStatus | null, TransactionChange?])[] = [
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
    ['HTTP status 200 with every status code', {}],
    ['the status code as HTTP status', { httpStatusFollowsCode: true }],
    ['the transaction id as order_id', { returnsTransactionIdAsOrderId: true }],
  ])('brings orders to the state of their payment if the gateway sends %s', async (_what, gateway) => {
    Object.assign(shop.gateway, gateway);
    const orders = await shop.insertOrders(PAYMENTS.length);
    const cases = PAYMENTS.map(([status, change], n) => ({ orderId: orders[n] ?? '', status, change }));
    for (const { orderId, status, change } of cases)
      if (status !== null) shop.gateway.setStatus(orderId, status, change);
    await shop.reconcile(orders);
    for (const { orderId, status } of cases) {
      const order = await shop.readStoredOrder(orderId);
      expect(order.status).toBe(status ?? 'pending');
      expect(order.completed_at !== null).toBe(status === 'settlement' || status === 'capture');
      const transaction = shop.gateway.order(orderId).transactions.at(-1);
      expect(order).toMatchObject({
        transaction_id: transaction?.transactionId ?? null,
        payment_type: transaction?.paymentType ?? null,
        fraud_status: transaction?.fraudStatus ?? null,
      });
      const history = status === null ? [] : [`reconciliation ${status} applied`];
      expect(await shop.describeHistory(orderId)).toEqual(history);
    }
  });

  it('does not apply a wrong amount, and still applies the payment of another attempt', async () => {
    const orderId = await shop.insertOrder();
    shop.gateway.settle(orderId, { grossAmount: '1.00' });
    await shop.reconcile([orderId]);
    expect(await shop.readStoredOrder(orderId)).toMatchObject({ status: 'pending', completed_at: null });
    expect((await shop.cancel(orderId)).status).toBe(502);
    const { transactionId } = shop.gateway.settle(await shop.addAttempt(orderId));
    await shop.reconcile([orderId], '11 minutes');
    const paid = { status: 'settlement', transaction_id: transactionId };
    expect(await shop.readStoredOrder(orderId)).toMatchObject(paid);
  });

  it('is replaced by another check if a notification arrived during the call', async () => {
    const orderId = await shop.insertOrder();
    shop.gateway.settle(orderId);
    let isFirst = true;
    shop.gateway.beforeResponse = async () => {
      if (!isFirst) return;
      isFirst = false;
      // The response that is not sent yet contains the status settlement.
      await shop.notify(orderId);
      await shop.setStatusAndNotify(orderId, 'refund');
    };
    await shop.reconcile([orderId]);
    expect(await shop.readStoredOrder(orderId)).toMatchObject({ status: 'refund', completed_at: null });
    expect(shop.countCalls('status', orderId)).toBe(2);
    expect(await shop.describeHistory(orderId)).toEqual([
      'notification settlement applied',
      'notification refund applied',
    ]);
  });
});

it.each([
  ['newest', 1],
  ['oldest', 0],
])('an order is paid if its %s attempt was paid and its other attempt expired', async (_which, paidIndex) => {
  const orderId = await shop.insertOrder();
  const attempts = [orderId, await shop.addAttempt(orderId)]; // The first attempt has the id of the order.
  const [paid = '', expired = ''] = paidIndex === 0 ? attempts : attempts.toReversed();
  const { transactionId } = shop.gateway.settle(paid);
  shop.gateway.setStatus(expired, 'expire');
  await shop.reconcile([orderId]);
  const order = await shop.readStoredOrder(orderId);
  expect(order).toMatchObject({ status: 'settlement', transaction_id: transactionId });
  expect(order.completed_at).not.toBeNull();
  // The notification that the other attempt has expired does not change the order, nor does its redelivery.
  await shop.notify(expired);
  await shop.notify(expired);
  expect((await shop.describeHistory(orderId)).at(-1)).toBe('notification expire duplicate');
  expect(await shop.readStatus(orderId)).toBe('settlement');
});

describe('an hour after the time to pay', () => {
  it.each([
    ['an order with 24 hours to pay', '24 hours', '24 hours 58 minutes'],
    ['an order with 2 hours to pay', '2 hours', '2 hours 58 minutes'],
    ['an order of version 1.2, without pay_until,', null, '24 hours 58 minutes'],
  ])('the service expires %s and its payment at the gateway', async (_what, payTime, beforeEnd) => {
    const orders = await shop.insertOrders(2, { payTime });
    const [withPayment = '', withoutPayment = ''] = orders;
    shop.gateway.setStatus(withPayment, 'pending');
    await shop.reconcile(orders, beforeEnd);
    const readStatuses = () => Promise.all(orders.map((id) => shop.readStatus(id)));
    expect(await readStatuses()).toEqual(['pending', 'pending']);
    expect(shop.countCalls('expire', withPayment)).toBe(0);
    await shop.reconcile(orders, '6 minutes');
    expect(await readStatuses()).toEqual(['expire', 'expire']);
    expect(shop.gateway.statusOf(withPayment)).toBe('expire');
    await shop.notify(withPayment);
    expect(await shop.describeHistory(withPayment)).toEqual([
      'reconciliation pending applied',
      'reconciliation expire applied',
      'notification expire duplicate',
    ]);
    expect(await shop.describeHistory(withoutPayment)).toEqual(['reconciliation expire applied']);
    await shop.customer.post(`/api/orders/${withPayment}/token`).expect(409);
  });

  it.each([
    ['deny', 'accept'],
    ['failure', 'accept'],
    ['capture', 'deny'],
  ] as const)(
    'an order whose last payment had the status %s and the fraud status %s expires, even if the service did not run then',
    async (status, fraudStatus) => {
      const orderId = await shop.insertOrder();
      await shop.setStatusAndNotify(orderId, status, { paymentType: 'credit_card', fraudStatus });
      await shop.reconcile([orderId], '48 hours');
      expect(await shop.readStatus(orderId)).toBe('expire');
    },
  );

  it('an order is paid if the customer pays while the service expires it', async () => {
    const orderId = await shop.insertOrder();
    shop.gateway.setStatus(orderId, 'pending');
    shop.gateway.beforeProcessing = ({ operation }) => {
      if (operation === 'expire') shop.gateway.settle(orderId);
    };
    await shop.reconcile([orderId], '26 hours');
    expect(shop.countCalls('expire', orderId)).toBe(1);
    expect(await shop.readStatus(orderId)).toBe('settlement');
  });

  it('an order stays pending while the gateway fails', async () => {
    const orderId = await shop.insertOrder();
    shop.gateway.setStatus(orderId, 'pending');
    await shop.letOrdersAge([orderId], '26 hours');
    const rejection = { status: 200, body: { status_code: '412', status_message: 'cannot be updated' } };
    for (const fault of [
      { operation: 'status', kind: 'error' },
      { operation: 'status', kind: 'garbage' },
      { operation: 'expire', kind: 'error' },
      { operation: 'expire', kind: 'disconnect' },
      { operation: 'expire', kind: 'response', ...rejection },
      { operation: 'expire', kind: 'response-lost' },
    ] as const) {
      shop.gateway.addFault(fault);
      const calls = shop.gateway.listCalls(fault.operation).length;
      await startCheck(orderId);
      await until('the gateway was called', () => shop.gateway.listCalls(fault.operation).length > calls);
      await waitForFailedJob(shop.service.database.pool, 'check-order');
      expect(await shop.readStatus(orderId)).toBe('pending');
      shop.gateway.clearFaults();
    }
    await makeJobsDue(shop.service.database.pool);
    await shop.waitForPaymentChecks();
    expect(await shop.readStatus(orderId)).toBe('expire');
    expect(shop.gateway.statusOf(orderId)).toBe('expire');
  });
});

it('a dead check runs again when the next check of the order is due', async () => {
  const orderId = await shop.insertOrder();
  shop.gateway.settle(orderId);
  shop.gateway.addFault({ operation: 'status', kind: 'error' });
  await startCheck(orderId);
  await waitForFailedJob(shop.service.database.pool, 'check-order');
  await changeJobs(shop.service.database.pool, `check-order:${orderId}`, { attempts: 25 });
  shop.gateway.clearFaults();
  await startCheck(orderId);
  await until('the payment is recorded', async () => (await shop.readStatus(orderId)) === 'settlement');
  await shop.waitForPaymentChecks();
});

it('a check records a further partial refund of an order that already has the status partial_refund', async () => {
  const orderId = await shop.insertOrder();
  const { refunds } = shop.gateway.setStatus(orderId, 'partial_refund', { paymentType: 'gopay' });
  for (const [index, amount] of [50_000, 70_000].entries()) {
    refunds.push({ refund_key: `dashboard-${index}`, amount });
    // Rejected and followed by a check, because the field is required.
    expect((await shop.sendNotification(orderId, { fraud_status: undefined })).status).toBe(400);
    await shop.waitForPaymentChecks();
  }
  expect((await readOrder(shop.customer, orderId)).refunded_amount).toBe(120_000);
});
