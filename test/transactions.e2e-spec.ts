import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { sendDuringTransaction } from './support/databases.js';
import { expectFailure } from './support/failure.js';
import { makeJobsDue, runAllJobs } from './support/jobs.js';
import { buildNotification, sendNotification } from './support/notifications.js';
import { userIdOf } from './support/orders.js';
import { GROSS_AMOUNT, useShop } from './support/shop.js';
import { inParallel } from './support/wait.js';

const STATUS_CODES: Readonly<Record<string, string>> = { pending: '201', deny: '202', expire: '202' };

const shop = await useShop();

/**
 * Notifies the service of transactions of a payment attempt, one after another. The service must accept the notifications.
 * @param summaries name and status of each transaction, for example `T1 settlement` or `T2 capture/challenge`
 */
async function notifyAll(attemptId: string, ...summaries: string[]): Promise<void> {
  for (const summary of summaries) {
    const [, id = '', transaction_status = '', fraud_status = 'accept'] =
      /^(\w+) (\w+)(?:\/(\w+))?$/.exec(summary) ?? [];
    const notification = buildNotification({
      order_id: attemptId,
      transaction_id: `${id}-${attemptId}`,
      transaction_status,
      fraud_status,
      status_code: STATUS_CODES[transaction_status] ?? '200',
      gross_amount: `${GROSS_AMOUNT}.00`,
    });
    await sendNotification(shop.service, notification).expect(200);
  }
}

const SETTLED = { status: 'settlement', payment_type: 'bank_transfer', refund_due: false };

describe('an order that was paid with one transaction', () => {
  it.each([
    ...['T2 deny', 'T2 expire', 'T2 cancel', 'T2 failure', 'T2 pending', 'T2 authorize'],
    'T1 capture/challenge',
  ])('stays paid after T1 settlement and then %s, and can be refunded', async (late) => {
    const orderId = await shop.orderTwoPieces();
    await notifyAll(orderId, 'T1 settlement', late);
    expect((await shop.readAsAdmin(orderId)).order).toMatchObject(SETTLED);
    expect((await shop.requestRefund(orderId, { manual: true })).status).toBe(200);
  });

  it('stays refunded if the gateway settles a capture whose money was returned by hand', async () => {
    const orderId = await shop.orderTwoPieces();
    await notifyAll(orderId, 'T1 capture');
    expect((await shop.requestRefund(orderId, { manual: true })).status).toBe(200);
    await notifyAll(orderId, 'T1 settlement');
    expect((await shop.readAsAdmin(orderId)).order).toMatchObject({
      status: 'refund',
      refunded_amount: GROSS_AMOUNT,
    });
  });

  it('shows a second payment as a surplus, which a refund returns without touching the first', async () => {
    const orderId = await shop.orderTwoPieces();
    const first = `T1-${orderId}`;
    const second = `T2-${orderId}`;
    for (const transactionId of [first, second])
      shop.gateway.setStatus(orderId, 'settlement', { transactionId, paymentType: 'gopay' });
    await notifyAll(orderId, 'T1 settlement', 'T2 settlement');
    const paidTwice = await shop.readAsAdmin(orderId);
    expect(paidTwice.order).toMatchObject({ ...SETTLED, refund_due: true });
    expect(paidTwice.transactions).toMatchObject([
      { transaction_id: first, surplus: false, gross_amount: GROSS_AMOUNT, attempt_id: orderId },
      { transaction_id: second, surplus: true, gross_amount: GROSS_AMOUNT, refunded_amount: 0 },
    ]);
    expect(await shop.listAsAdmin({ refund: 'due' })).toContain(orderId);

    expect((await shop.requestRefund(orderId, { transaction_id: second })).status).toBe(200);
    const returned = await shop.readAsAdmin(orderId);
    expect(returned.order).toMatchObject({ ...SETTLED, refunded_amount: 0 });
    expect(returned.transactions).toMatchObject([
      { status: 'settlement' },
      { status: 'refund', surplus: false },
    ]);
    expect(shop.gateway.order(orderId).transactions.map(({ status }) => status)).toEqual([
      'settlement',
      'refund',
    ]);
    for (const transaction_id of [second, 'unknown'])
      expectFailure(await shop.requestRefund(orderId, { transaction_id }), 409, 'order cannot be refunded');
  });
});

describe('an order whose payment failed', () => {
  it.each(['deny', 'failure', 'expire'])(
    'with the status %s can be paid on a new payment page',
    async (status) => {
      const orderId = await shop.orderTwoPieces();
      await notifyAll(orderId, `T1 ${status}`);
      const responses = await inParallel(5, () => shop.customer.post(`/api/orders/${orderId}/token`));
      const tokens = responses.map(({ body }) => (body as { data: { token: string } }).data.token);
      expect(new Set(tokens).size).toBe(1);
      expect((await shop.readAsAdmin(orderId)).order).toMatchObject({ status: 'pending', token: tokens[0] });
      const attempts = await shop.readAttempts(orderId);
      expect(attempts).toHaveLength(2);
      await notifyAll(attempts[1]?.attempt_id ?? '', 'T2 settlement');
      await notifyAll(orderId, 'T3 deny');
      expect((await shop.readAsAdmin(orderId)).order).toMatchObject({ ...SETTLED, pay_until: null });
    },
  );

  it('stays cancelled by its customer when notifications of its other transactions arrive', async () => {
    const orderId = await shop.orderTwoPieces();
    await notifyAll(orderId, 'T1 deny');
    expect((await shop.cancel(orderId)).status).toBe(200);
    await notifyAll(orderId, 'T2 deny', 'T3 expire');
    const { order, actions } = await shop.readAsAdmin(orderId);
    expect(order).toMatchObject({ status: 'cancel', pay_until: null });
    const fullname = 'Ayu Lestari';
    expect(actions).toMatchObject([{ action: 'cancel', by: { id: shop.userId, fullname }, amount: null }]);
  });
});

describe('an unpaid order', () => {
  it.each(['pending', 'authorize'])(
    'can be cancelled although a notification named a %s transaction that the gateway does not know',
    async (status) => {
      const orderId = await shop.orderTwoPieces();
      await notifyAll(orderId, `T1 ${status}`);
      expect((await shop.cancel(orderId)).status).toBe(200);
      expect((await shop.readAsAdmin(orderId)).order).toMatchObject({ status: 'cancel', pay_until: null });
    },
  );

  it.each([
    ['T1 deny'],
    ['T1 authorize'],
    ['T1 capture/challenge'],
    ['T1 settlement, T1 deny, T2 authorize'],
    ['T1 settlement, T1 deny, T2 capture/challenge'],
  ])(
    'becomes paid through reconciliation after %s if the notification of the settlement of T2 was lost',
    async (notifications) => {
      const orderId = await shop.insertOrder();
      await notifyAll(orderId, ...notifications.split(', '));
      shop.gateway.settle(orderId, { transactionId: `T2-${orderId}` });
      await shop.reconcile([orderId]);
      expect((await shop.readAsAdmin(orderId)).order).toMatchObject({ status: 'settlement' });
    },
  );
});

describe('a completed payment of an order that was cancelled', () => {
  it('does not count until the gateway confirms it, and its notification is shown as unconfirmed and with a masked signature', async () => {
    const orderId = await shop.orderTwoPieces();
    expect((await shop.cancel(orderId)).status).toBe(200);
    await notifyAll(orderId, 'T1 settlement');
    await shop.waitForPaymentChecks();
    const { order, notifications } = await shop.readAsAdmin(orderId);
    expect(order.status).toBe('cancel');
    expect(notifications[1]?.outcome).toBe('unconfirmed');
    expect(notifications[1]?.payload).toContain('"signature_key":"…"');
    shop.gateway.settle(orderId, { transactionId: `T1-${orderId}` });
    await makeJobsDue(shop.service.database.pool);
    await shop.waitForPaymentChecks();
    expect(await shop.readStatus(orderId)).toBe('settlement');
  });

  it('counts if the gateway confirms it, but not again if its notification is redelivered after a denial', async () => {
    const orderId = await shop.orderTwoPieces();
    expect((await shop.cancel(orderId)).status).toBe(200);
    shop.gateway.settle(orderId, { transactionId: `T1-${orderId}` });
    await notifyAll(orderId, 'T1 settlement');
    await shop.waitForPaymentChecks();
    expect(await shop.readStatus(orderId)).toBe('settlement');
    await notifyAll(orderId, 'T1 deny', 'T1 settlement');
    const { order, notifications } = await shop.readAsAdmin(orderId);
    expect(order.status).toBe('deny');
    const outcomes = [notifications[1]?.outcome, notifications.at(-1)?.outcome];
    expect(outcomes).toEqual(['unconfirmed', 'duplicate']);
  });
});

it('the late notification of the cancellation by the service does not undo a payment that the gateway has confirmed', async () => {
  const orderId = await shop.orderWithUnreportedPayment();
  expect((await shop.cancel(orderId)).status).toBe(200);
  const cancellation = shop.gateway.notification(orderId);
  shop.gateway.settle(orderId);
  await shop.notify(orderId);
  await shop.waitForPaymentChecks();
  expect(await shop.readStatus(orderId)).toBe('settlement');
  await sendNotification(shop.service, cancellation).expect(200);
  expect(await shop.readStatus(orderId)).toBe('settlement');
});

it('an order with a chargeback cannot be cancelled, because the shop may hold money for it', async () => {
  const orderId = await shop.orderTwoPieces();
  await notifyAll(orderId, 'T1 pending');
  shop.gateway.setStatus(orderId, 'chargeback', { transactionId: `T1-${orderId}` });
  shop.gateway.setStatus(orderId, 'pending', { transactionId: `T2-${orderId}` });
  expect((await shop.cancel(orderId)).status).toBe(502);
  expect(await shop.readStatus(orderId)).toBe('pending');
});

it('a chargeback, which no notification may report, does not hide another payment from the checks of its order', async () => {
  const orderId = await shop.orderTwoPieces();
  await notifyAll(orderId, 'T1 settlement');
  shop.gateway.setStatus(orderId, 'chargeback', { transactionId: `T1-${orderId}` });
  shop.gateway.settle(orderId, { transactionId: `T2-${orderId}` }); // Its notification is lost.
  const chargeback = shop.gateway.notification(orderId, { transaction_id: `T1-${orderId}` });
  await sendNotification(shop.service, chargeback).expect(400);
  await shop.waitForPaymentChecks();
  const { order, transactions } = await shop.readAsAdmin(orderId);
  expect(order).toMatchObject({ status: 'settlement', refund_due: true });
  expect(transactions).toMatchObject([{ surplus: false }, { surplus: true }]);
});

it.each([
  ['settlement', 'without fraud_status', 400, { fraud_status: undefined }],
  ['pending', 'without fraud_status', 400, { fraud_status: undefined }],
  ['settlement', 'with the status pending', 200, { transaction_status: 'pending', status_code: '201' }],
  ['pending', 'with the status pending', 200, {}],
] as const)(
  'a notification of a %s transaction of another order, %s, gets %i and changes neither of the two orders',
  async (status, _fields, response, fields) => {
    const [orderId = '', other = ''] = await shop.insertOrders(2);
    const { transactionId } = shop.gateway.setStatus(other, status);
    const notified = await shop.sendNotification(other, { order_id: orderId, ...fields });
    expect(notified.status).toBe(response);
    await shop.reconcile([orderId]);
    expect((await shop.readAsAdmin(orderId)).order.status).toBe('pending');
    await shop.cancel(orderId);
    expect((await shop.readAsAdmin(orderId)).order.status).toBe('cancel');
    expect(await shop.readStatus(other)).toBe('pending');
    expect(shop.gateway.order(other).transactions).toMatchObject([{ transactionId, status }]);
  },
);

it('a check finds the lost settlement of an earlier transaction', async () => {
  const orderId = await shop.orderTwoPieces();
  const ids = ['T1', 'T2'].map((name) => `${name}-${orderId}`);
  for (const transactionId of ids) await shop.setStatusAndNotify(orderId, 'pending', { transactionId });
  shop.gateway.settle(orderId, { transactionId: ids[0] ?? '' });
  // The gateway's response for T1 then names no order, so the service must use the id that it asked about.
  shop.gateway.returnsTransactionIdAsOrderId = true;
  await shop.reconcile([orderId]);
  expect(await shop.readStoredOrder(orderId)).toMatchObject({ status: 'settlement', transaction_id: ids[0] });
});

describe('notifications of three transactions', () => {
  const NOTIFICATIONS = ['T1 pending', 'T1 deny', 'T2 expire', 'T3 settlement'];

  function permute<T>(items: readonly T[]): T[][] {
    if (items.length === 0) return [[]];
    return items.flatMap((item, index) => permute(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
  }

  it('lead to the same payment, whatever sequence they arrive in', async () => {
    const arrivals = permute(NOTIFICATIONS);
    const orders = await shop.insertOrders(arrivals.length);
    await Promise.all(orders.map((orderId, index) => notifyAll(orderId, ...(arrivals[index] ?? []))));
    for (const orderId of orders) {
      const expected = { status: 'settlement', transaction_id: `T3-${orderId}` };
      expect(await shop.readStoredOrder(orderId)).toMatchObject(expected);
    }
  });

  it('are applied at most once each if 50 deliveries arrive in parallel', async () => {
    const orderId = await shop.orderTwoPieces();
    await inParallel(50, (n) => notifyAll(orderId, NOTIFICATIONS[n % NOTIFICATIONS.length] ?? ''));
    const { order, transactions } = await shop.readAsAdmin(orderId);
    expect(order).toMatchObject(SETTLED);
    expect(transactions).toHaveLength(3);
    const history = await shop.describeHistory(orderId);
    expect(history).toHaveLength(50);
    const applied = history.filter((line) => line.endsWith('applied'));
    expect(new Set(applied).size).toBe(applied.length);
  });
});

describe('two equal refunds without a key', () => {
  it.each([false, true])('that overlap return the money once (by hand: %s)', async (manual) => {
    const orderId = await shop.orderTwoPieces();
    await shop.setStatusAndNotify(orderId, 'settlement', { paymentType: 'gopay' });
    const body = { amount: 50_000, manual, reason: 'box was wet' };
    // Both requests wait for the lock of the order, so they overlap on any machine.
    const lock = `SELECT FROM orders WHERE order_id = '${orderId}' FOR UPDATE`;
    const refund = () => shop.requestRefund(orderId, body);
    const send = () => Promise.all([refund(), refund()]);
    const responses = await sendDuringTransaction(shop.service.database, lock, send, 2);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    const { order, actions } = await shop.readAsAdmin(orderId);
    expect(order.refunded_amount).toBe(50_000);
    expect(actions).toMatchObject([{ action: 'refund', amount: 50_000, reason: 'box was wet' }]);
    expect(actions[0]?.by).toEqual({
      id: userIdOf(shop.admin),
      fullname: expect.any(String) as string,
      email: expect.any(String) as string,
    });
    // A later request is a new refund.
    expect((await shop.requestRefund(orderId, body)).status).toBe(200);
    expect((await shop.readAsAdmin(orderId)).order.refunded_amount).toBe(100_000);
  });

  it('return the money once if the headers of the second arrive before the first is answered', async () => {
    const orderId = await shop.orderTwoPieces();
    await notifyAll(orderId, 'T1 settlement');
    const refund = { amount: 50_000, manual: true };
    const second = request(`${shop.service.url}/api/admin/orders/${orderId}/refund`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Cookie: `accessToken=${shop.admin.cookie('accessToken')}`,
      },
    });
    const response = once(second, 'response');
    second.write('{');
    await once(second, 'socket').then(([socket]) => once(socket as Socket, 'connect'));
    expect((await shop.requestRefund(orderId, refund)).status).toBe(200);
    second.end(JSON.stringify(refund).slice(1));
    const [{ statusCode }] = (await response) as [IncomingMessage];
    expect(statusCode).toBe(200);
    expect((await shop.readAsAdmin(orderId)).order.refunded_amount).toBe(50_000);
  });

  it.each(['1.2', '1.3'])(
    'return the money once if a job completed the first after a 502 of version %s',
    async (version) => {
      const { pool } = shop.service.database;
      const orderId = await shop.orderTwoPieces();
      await shop.setStatusAndNotify(orderId, 'settlement', { paymentType: 'gopay' });
      shop.gateway.addFault({ operation: 'refund', kind: 'response-lost', nth: 1 });
      expect((await shop.requestRefund(orderId, { amount: 50_000 })).status).toBe(502);
      // Version 1.2 does not know the column, so its rows have the default value.
      if (version === '1.2')
        await pool.query('UPDATE refunds SET is_answered = DEFAULT WHERE order_id = $1', [orderId]);
      await runAllJobs(pool, 'settle-refund');
      const refunded = { status: 'partial_refund', refunded_amount: 50_000 };
      expect((await shop.readAsAdmin(orderId)).order).toMatchObject(refunded);
      expect((await shop.requestRefund(orderId, { amount: 50_000 })).status).toBe(200);
      expect((await shop.readAsAdmin(orderId)).order).toMatchObject(refunded);
      const [transaction] = shop.gateway.order(orderId).transactions;
      expect(transaction?.refunds).toMatchObject([{ amount: 50_000 }]);
    },
  );
});
