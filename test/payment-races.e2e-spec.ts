import { sendDuringTransaction } from './support/databases.js';
import { addJob } from './support/jobs.js';
import { readHistory } from './support/notifications.js';
import { useShop } from './support/shop.js';
import { inParallel } from './support/wait.js';

/** Points in time around the gateway call of a cancellation, at which a test acts. */
const POINTS = ['before the call', 'before its effect', 'before its response', 'after the response'] as const;
type Point = (typeof POINTS)[number];
type Action = (point: Point) => Promise<void>;

const shop = await useShop();
/** Actions of the test during cancellations, by order id. */
const actions = new Map<string, Action>();

beforeEach(() => {
  shop.gateway.beforeProcessing = async ({ operation, orderId }) => {
    if (operation === 'cancel') await actions.get(orderId ?? '')?.('before its effect');
  };
  shop.gateway.beforeResponse = async ({ operation, orderId }) => {
    if (operation === 'cancel') await actions.get(orderId ?? '')?.('before its response');
  };
});

/** Starts a check of an order at the gateway (reconciliation), also while another check runs. */
async function startCheck(orderId: string): Promise<void> {
  await addJob(shop.service.database.pool, 'check-order', { key: null, payload: { orderId } });
}

/**
 * Cancels an order and calls `act` once at each point. A cancellation that is rejected without a call of the gateway does
 * not reach all points: `act` is called for the remaining points afterwards.
 * @returns the HTTP status of the cancellation
 */
async function cancelAndAct(orderId: string, act: Action): Promise<number> {
  const unreached = new Set<Point>(POINTS);
  const reach = async (point: Point): Promise<void> => {
    if (unreached.delete(point)) await act(point);
  };
  actions.set(orderId, reach);
  await reach('before the call');
  const { status } = await shop.cancel(orderId);
  for (const point of POINTS) await reach(point);
  actions.delete(orderId);
  return status;
}

/** Asserts that the order agrees with its history and with the gateway. */
async function expectConsistent(orderId: string): Promise<void> {
  const order = await shop.readStoredOrder(orderId);
  const history = await readHistory(shop.service, orderId);
  const { status: transaction_status, transaction_id } = order;
  const lastApplied = history.findLast(
    ({ outcome, transaction_id: id }) => outcome === 'applied' && id !== null,
  );
  expect(lastApplied).toMatchObject({ transaction_status, transaction_id });
  expect(order.completed_at !== null).toBe(['settlement', 'capture'].includes(order.status));
  expect(order.status).toBe(shop.gateway.statusOf(orderId));
}

/** Runs races in parallel, each with its own order, and asserts that all orders are consistent. Returns the order ids. */
async function runRaces<T>(races: readonly T[], run: (race: T, orderId: string) => Promise<void>) {
  const orders = await shop.insertOrders(races.length);
  await Promise.all(races.map((race, index) => run(race, orders[index] ?? '')));
  await shop.waitForPaymentChecks();
  for (const orderId of orders) await expectConsistent(orderId);
  expect(shop.service.listErrors()).toEqual([]);
  return orders;
}

/** Points at which the customer pays. Nobody can pay after the cancellation has taken effect. */
const PAYMENTS = ['before the call', 'before its effect', 'never'] as const;
/** Combinations of a payment, a notification (not before the payment) and a check. */
const RACES = PAYMENTS.flatMap((paid) =>
  POINTS.flatMap((notified) => POINTS.map((checked) => ({ paid, notified, checked }))),
).filter(({ paid, notified }) => paid === 'never' || POINTS.indexOf(notified) >= POINTS.indexOf(paid));

describe('a race of settlement, cancellation and reconciliation', () => {
  it(`has one winner in all ${RACES.length} combinations of points for payment, notification and check`, async () => {
    const orders = await runRaces(RACES, async ({ paid, notified, checked }, orderId) => {
      shop.gateway.setStatus(orderId, 'pending');
      const status = await cancelAndAct(orderId, async (point) => {
        if (point === paid) shop.gateway.settle(orderId);
        if (point === notified) await shop.notify(orderId);
        if (point === checked) await startCheck(orderId);
      });
      const expected = paid === 'never' ? 200 : 409;
      expect({ paid, notified, checked, status }).toEqual({ paid, notified, checked, status: expected });
    });
    for (const orderId of orders) {
      const history = await readHistory(shop.service, orderId);
      // The end of the order is an event of its own, without a transaction.
      const winners = history.filter(
        ({ transaction_id, transaction_status, outcome }) =>
          transaction_id !== null &&
          outcome === 'applied' &&
          ['settlement', 'cancel'].includes(transaction_status ?? ''),
      );
      expect(winners).toHaveLength(1);
      expect(history.filter(({ source }) => source === 'notification')).toHaveLength(1);
    }
  });

  it('leaves an order that agrees with the gateway if a capture is notified at any point', async () => {
    // A check before the call could record the capture, and then the order could not be cancelled.
    const checks = ['never', ...POINTS.filter((point) => point !== 'before the call')] as const;
    const races = POINTS.flatMap((notified) => checks.map((checked) => ({ notified, checked })));
    await runRaces(races, async ({ notified, checked }, orderId) => {
      shop.gateway.setStatus(orderId, 'capture', { paymentType: 'credit_card' });
      const status = await cancelAndAct(orderId, async (point) => {
        if (point === notified)
          await shop.notify(orderId, { transaction_status: 'capture', status_code: '200' });
        if (point === checked) await startCheck(orderId);
      });
      // If the notification arrives first, the order is paid and its customer cannot cancel it.
      const expected = notified === 'before the call' ? 409 : 200;
      expect({ notified, checked, status }).toEqual({ notified, checked, status: expected });
      await shop.notify(orderId); // Like the gateway, which also notifies the final status.
    });
  });
});

it('many orders get notifications, cancellations and checks in parallel without a 5xx or a deadlock', async () => {
  const orders = await shop.insertOrders(20);
  for (const orderId of orders) shop.gateway.setStatus(orderId, 'pending');
  await shop.letOrdersAge(orders, '6 minutes');
  const searches = inParallel(orders.length, () => shop.enqueueDueOrderSearch());
  const responses = await Promise.all(
    orders.flatMap((orderId) => [
      shop.sendNotification(orderId),
      shop.sendNotification(orderId, { fraud_status: undefined }), // Rejected, because the field is required.
      shop.cancel(orderId),
      shop.sendNotification(orderId),
    ]),
  );
  await searches;
  expect(responses.map(({ status }) => status)).toEqual(orders.flatMap(() => [200, 400, 200, 200]));
  await shop.waitForPaymentChecks();
  for (const orderId of orders) {
    await shop.notify(orderId);
    await expectConsistent(orderId);
  }
  expect(shop.service.listErrors()).toEqual([]);
  // A deadlock in a request is a 503. A deadlock in a check is a warning, and the check is retried.
  const deadlocks = shop.service.log.filter(({ msg }) => String(msg).includes('deadlock'));
  expect(deadlocks).toEqual([]);
});

/** Returns the statements with which the service records a settlement. */
function buildSettlement(orderId: string, transactionId: string): string {
  return `UPDATE orders SET status = 'settlement', transaction_id = '${transactionId}', attempt_id = order_id,
      completed_at = now() WHERE order_id = '${orderId}';
    INSERT INTO payment_notifications (order_id, outcome, transaction_id, transaction_status, status_code, gross_amount,
      fraud_status, payload)
    VALUES ('${orderId}', 'applied', '${transactionId}', 'settlement', '200', '370000.00', 'accept', '{}')`;
}

it('a notification is late if a later status was applied while it waited for the lock of its order', async () => {
  const orderId = await shop.insertOrder();
  const { transactionId } = shop.gateway.setStatus(orderId, 'pending');
  const settlement = buildSettlement(orderId, transactionId);
  await sendDuringTransaction(shop.service.database, settlement, () => shop.notify(orderId));
  expect((await shop.describeHistory(orderId)).at(-1)).toBe('notification pending late');
  expect(await shop.readStatus(orderId)).toBe('settlement');
});

it('an order that is paid while an administrator reads it is shown with the history that it had before', async () => {
  const orderId = await shop.insertOrder();
  const lockAndSettle = `LOCK TABLE payment_notifications; ${buildSettlement(orderId, 'a-transaction')}`;
  const read = () => shop.readAsAdmin(orderId);
  const shown = await sendDuringTransaction(shop.service.database, lockAndSettle, read);
  expect(shown).toMatchObject({ order: { status: 'pending' }, transactions: [], notifications: [] });
  expect(await read()).toMatchObject({
    order: { status: 'settlement' },
    transactions: [{ status: 'settlement' }],
  });
});
