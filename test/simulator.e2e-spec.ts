import { randomUUID } from 'node:crypto';
import { makeJobsDue, readJobs } from './support/jobs.js';
import { readHistory } from './support/notifications.js';
import { useSimulator } from './support/simulator.js';
import { until } from './support/wait.js';

const { service, customer, openPaymentPage, startTwoTransactions } = await useSimulator();

it.each([
  [['bank-transfer', 'settle'], 'settlement', 0],
  [['bank-transfer', 'fail'], 'failure', 0],
  [['card-authorize', 'capture', 'settle'], 'settlement', 0],
  [['gopay', 'partial-refund', 'refund'], 'refund', 185_000],
  [['gopay', 'deny'], 'deny', 0],
  [['deny', 'card'], 'capture', 0],
  // Notifications of this method have no fraud_status. The service rejects them and requests the status instead.
  [['convenience-store', 'settle'], 'settlement', 0, 'HTTP 400'],
])(
  'the actions %j each send a notification, and lead to the status %s and refunds of Rp %i',
  async (actions, status, refunded_amount, response = 'HTTP 200') => {
    const page = await openPaymentPage();
    await page.postActions(...actions);
    expect(await page.readNotificationResponses()).toEqual(actions.map(() => response));
    await until('the payment is recorded', async () => (await page.readOrder()).status === status);
    expect(await page.readOrder()).toMatchObject({ refunded_amount });
  },
);

it.each([
  ['send-again', 'HTTP 200', ['settlement applied', 'settlement duplicate']],
  ['send-late-pending', 'HTTP 200', ['settlement applied', 'pending late']],
  ['send-bad-signature', 'HTTP 403', ['settlement applied']],
])(
  'after a payment, the action %s gets the response %s, and the order stays paid',
  async (action, response, history) => {
    const page = await openPaymentPage();
    await page.postActions('gopay', action);
    expect(await page.readNotificationResponses()).toEqual(['HTTP 200', response]);
    expect(await page.describeHistory()).toEqual(history);
    expect((await page.readOrder()).status).toBe('settlement');
    expect(await page.readHtml()).toContain(response);
  },
);

describe('a payment at the simulator', () => {
  it('cannot be started on the page of a cancelled order', async () => {
    const page = await openPaymentPage();
    await customer.post(`/api/orders/${page.orderId}/cancel`).expect(200);
    const text = await page.readHtml();
    expect(text).toContain('<h1 id="state">cancel</h1>');
    expect(text).not.toContain('<form');
    expect((await page.readView()).actions).toEqual([]);
    await page.clickAction('gopay').expect(409);
    expect(await page.readNotificationResponses()).toEqual([]);
  });

  it('expires after 24 hours unless it is paid', async () => {
    const pages = await Promise.all([openPaymentPage(), openPaymentPage(), openPaymentPage()]);
    const [pending, unused, paid] = pages;
    await pending.postActions('bank-transfer');
    await paid.postActions('gopay');
    const { pool } = service.database;
    // Each payment page has a job that runs after 24 hours and lets an unpaid payment expire.
    const readExpiries = async () =>
      (await readJobs(pool, 'simulator-expire')).filter((job) =>
        pages.some(({ orderId }) => orderId === job.payload.orderId),
      );
    const hours = (await readExpiries()).map(({ due_in }) => due_in / 3_600);
    expect(hours.map(Math.round)).toEqual([24, 24, 24]);
    await makeJobsDue(pool);
    await until('the order expires', async () => (await pending.readOrder()).status === 'expire');
    await until('the jobs are done', async () => (await readExpiries()).length === 0);
    expect(await unused.readHtml()).toContain('<h1 id="state">expire</h1>');
    await unused.clickAction('gopay').expect(409);
    expect(await unused.readNotificationResponses()).toEqual([]);
    expect((await paid.readView()).transaction_status).toBe('settlement');
  });
});

describe('a payment page with several transactions', () => {
  it('lets the customer pay with another method after a denied or a pending one', async () => {
    const page = await openPaymentPage();
    await page.postActions('deny', 'bank-transfer', 'qris');
    expect(await page.describeTransactions()).toEqual([
      'credit_card deny',
      'bank_transfer pending',
      'qris settlement',
    ]);
    expect((await page.readView()).transaction_status).toBe('settlement');
    await page.clickAction('gopay').expect(409);
  });

  it('offers the actions of an earlier transaction', async () => {
    const { firstId, ...page } = await startTwoTransactions();
    expect(await page.readHtml()).toContain(`action="${page.path}/transactions/${firstId}/settle"`);
    for (const action of ['settle', 'send-again', 'send-late-pending'])
      await page.postTransactionAction(firstId, action);
    await page.postTransactionAction(firstId, 'gopay', 409);
    await page.postTransactionAction(randomUUID(), 'settle', 409);
    expect(await page.describeTransactions()).toEqual(['bank_transfer settlement', 'gopay settlement']);
    const notified = (await readHistory(service, page.orderId)).filter(
      ({ transaction_id }) => transaction_id === firstId,
    );
    expect(notified.map(({ transaction_status }) => transaction_status)).toEqual([
      'pending',
      'settlement',
      'settlement',
      'pending',
    ]);
  });

  it('cancels all of them when the order is cancelled, and notifies the service', async () => {
    const page = await openPaymentPage();
    await page.postActions('bank-transfer', 'convenience-store');
    await customer.post(`/api/orders/${page.orderId}/cancel`).expect(200);
    expect(await page.describeTransactions()).toEqual(['bank_transfer cancel', 'cstore cancel']);
    await until('the notification is stored', async () =>
      (await readHistory(service, page.orderId)).some(
        ({ source, transaction_status }) => source === 'notification' && transaction_status === 'cancel',
      ),
    );
  });

  it('refunds the transaction that the administrator names', async () => {
    const { firstId, secondId, ...page } = await startTwoTransactions();
    await page.postTransactionAction(firstId, 'settle');
    await page.refund({ transaction_id: firstId }, 409); // The simulator does not refund bank transfers.
    await page.refund({ transaction_id: secondId });
    expect(await page.describeTransactions()).toEqual(['bank_transfer settlement', 'gopay refund']);
  });
});

describe('a refund', () => {
  it('by an administrator appears on the payment page, and the simulator notifies the service', async () => {
    const page = await openPaymentPage();
    await page.postActions('gopay');
    await page.refund({ amount: 50_000, reason: 'One slice was burnt' });
    await until(
      'the notification has a response',
      async () => (await page.readNotificationResponses()).length === 2,
    );
    expect(await page.readOrder()).toMatchObject({ status: 'partial_refund', refunded_amount: 50_000 });
    expect((await page.readHtml()).replaceAll('\u00a0', ' ')).toContain('(refunded: Rp 50.000)');
    await page.refund({});
    expect(await page.readOrder()).toMatchObject({ status: 'refund', refunded_amount: 185_000 });
    await page.refund({}, 409);
  });
});
