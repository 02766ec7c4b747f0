import { registerAccount, createEmail, PASSWORD } from './support/accounts.js';
import type { Client } from './support/client.js';
import { withRejectedWrites } from './support/databases.js';
import { readJobs, runAllJobs, waitForFailedJob } from './support/jobs.js';
import { orderOf, readOrder, requestOrder } from './support/orders.js';
import { setUpShop } from './support/shop-settings.js';
import { useShop } from './support/shop.js';
import { type ReceivedMail, SmtpStandIn } from './support/smtp-stand-in.js';
import { inParallel } from './support/wait.js';

const RECEIPT = 'Your receipt';
const REFUSED = 'We cannot make your order';
const READY = 'Your order is ready';
const REFUND = 'Your refund';

const smtp = await SmtpStandIn.start();
const shop = await useShop({ settings: { SMTP_URL: smtp.url } });

/** Returns the order number that mails show. */
const numberOf = (orderId: string): string => orderId.slice(0, 8).toUpperCase();

/** Waits until all order mails are sent, without the delays of retries. Returns the subjects of this order's mails. */
async function waitForSubjects(orderId: string): Promise<string[]> {
  const { pool } = shop.service.database;
  for (const task of ['send-order-mail', 'send-refund-mail']) await runAllJobs(pool, task);
  return smtp.mails.filter(({ text }) => text.includes(numberOf(orderId))).map(({ subject }) => subject);
}

function waitForMailAbout(orderId: string, subject: string): Promise<ReceivedMail> {
  return smtp.waitForMail((mail) => mail.subject === subject && mail.text.includes(numberOf(orderId)));
}

/** Orders one piece. Returns the order id. */
async function orderOnePiece(customer: Client, fields: object = {}): Promise<string> {
  const items = [{ product_id: shop.productId, quantity: 1 }];
  return orderOf(await requestOrder(customer, items, undefined, fields).expect(201)).order_id;
}

/** Settles a payment attempt. The id of the first attempt is the id of the order. */
const pay = (attemptId: string): Promise<void> => shop.setStatusAndNotify(attemptId, 'settlement');

/** Moves an order to another step. Returns the status of the response. */
async function advance(orderId: string, fulfilment: string): Promise<number> {
  return (await shop.setFulfilment(orderId, fulfilment)).status;
}

describe('the receipt', () => {
  it('shows the pickup time in the time zone of the shop, and hides name and note from an unverified address', async () => {
    await setUpShop(shop.admin, { time_zone: 'Asia/Makassar' });
    const tomorrow = new Date(Date.now() + 24 * 3_600_000);
    const time = tomorrow.toLocaleTimeString('en-GB', { timeZone: 'Asia/Makassar', timeStyle: 'short' });
    const { client: customer } = await registerAccount(shop.service, 'You won, see evil.example');
    const orderId = await orderOnePiece(customer, { pickup_at: tomorrow.toISOString(), note: 'Tulis' });
    await pay(orderId);
    const { text, html } = await waitForMailAbout(orderId, RECEIPT);
    expect(text).toMatch(new RegExp(`^Pickup: \\w+, \\d+ \\w+ \\d{4}, ${time}\\r?$`, 'm'));
    expect(text).toMatch(/^Hello,\r?\n/);
    expect(html).toContain('<p>Hello,</p>');
    expect(`${text} ${html}`).not.toMatch(/You won|Tulis/);
  });

  it('is sent once even if the payment is captured, settled, denied and settled again, and then another attempt is paid too', async () => {
    const orderId = await shop.orderTwoPieces();
    for (const status of ['capture', 'settlement', 'deny', 'settlement'] as const)
      await shop.setStatusAndNotify(orderId, status, { fraudStatus: status === 'deny' ? 'deny' : 'accept' });
    await pay(await shop.addAttempt(orderId));
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
  });

  const UNPAID = ['pending', 'authorize', 'deny', 'expire', 'cancel'] as const;
  it.each(UNPAID)('is not sent for the status %s', async (status) => {
    const orderId = await shop.orderTwoPieces();
    await shop.setStatusAndNotify(orderId, status);
    expect(await shop.readStatus(orderId)).toBe(status);
    expect(await waitForSubjects(orderId)).toEqual([]);
  });

  it('is not sent if the commit of the payment fails, and is sent once after the gateway retries', async () => {
    const orderId = await shop.orderTwoPieces();
    shop.gateway.settle(orderId);
    // A deferred trigger: every statement of the transaction succeeds, but the commit fails.
    const trigger =
      'CONSTRAINT TRIGGER rejection AFTER INSERT ON payment_notifications DEFERRABLE INITIALLY DEFERRED FOR EACH ROW';
    await withRejectedWrites(shop.service.database, trigger, async () => {
      expect((await shop.sendNotification(orderId)).status).toBe(500);
      expect(await waitForSubjects(orderId)).toEqual([]);
      expect((await readOrder(shop.customer, orderId)).status).toBe('pending');
    });
    await shop.notify(orderId);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
  });

  it.each(['deny', 'challenge'])(
    'is not sent for a capture with fraud status %s until the gateway accepts the capture',
    async (fraudStatus) => {
      const orderId = await shop.orderTwoPieces();
      await shop.setStatusAndNotify(orderId, 'capture', { paymentType: 'credit_card', fraudStatus });
      const captured = { status: 'capture', completed_at: expect.any(String) as string };
      expect(await readOrder(shop.customer, orderId)).toMatchObject(captured);
      expect(await waitForSubjects(orderId)).toEqual([]);
      await shop.setStatusAndNotify(orderId, 'capture', { fraudStatus: 'accept' });
      expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
    },
  );

  it("waits for the mail server without delaying the payment, and is sent to the customer's current address", async () => {
    const { client: customer } = await registerAccount(shop.service);
    const orderId = await orderOnePiece(customer);
    await smtp.down();
    await pay(orderId);
    await waitForFailedJob(shop.service.database.pool, 'send-order-mail');
    const email = createEmail();
    await customer.patch('/api/users').send({ email, password: PASSWORD }).expect(200);
    await smtp.up();
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
    expect((await waitForMailAbout(orderId, RECEIPT)).recipients).toEqual([email]);
  });
});

/** Orders and pays, waits for the receipt, and starts preparing. Returns the order's id. */
async function payAndPrepare(): Promise<string> {
  const orderId = await shop.orderTwoPieces();
  await pay(orderId);
  await waitForMailAbout(orderId, RECEIPT);
  expect(await advance(orderId, 'preparing')).toBe(200);
  return orderId;
}

async function readReadyJobs(orderId: string) {
  const jobs = await readJobs(shop.service.database.pool, 'send-order-mail');
  return jobs.filter(({ payload }) => payload.orderId === orderId && payload.mail === 'order-ready');
}

describe('the mail about a ready order', () => {
  it('is due a minute after the step, and is enqueued once even if parallel requests advance the order', async () => {
    const orderId = await payAndPrepare();
    const statuses = await inParallel(6, () => advance(orderId, 'ready'));
    expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const [job, ...others] = await readReadyJobs(orderId);
    expect(others).toEqual([]);
    expect(job?.due_in).toBeGreaterThan(30);
    expect(job?.due_in).toBeLessThanOrEqual(60);
  });

  it.each([
    { steps: ['ready', 'preparing'], count: 0 },
    { steps: ['ready', 'refused'], count: 0 },
    { steps: ['ready', 'preparing', 'ready'], count: 1 },
  ])('is sent $count times after the steps $steps within a minute', async ({ steps, count }) => {
    const orderId = await payAndPrepare();
    for (const step of steps) expect(await advance(orderId, step)).toBe(200);
    const subjects = await waitForSubjects(orderId);
    expect(subjects.filter((subject) => subject === READY)).toHaveLength(count);
  });

  it('is not sent again after a step back from collected', async () => {
    const orderId = await payAndPrepare();
    for (const step of ['ready', 'collected']) expect(await advance(orderId, step)).toBe(200);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT, READY]);
    expect(await advance(orderId, 'ready')).toBe(200);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT, READY]);
  });
});

describe('the mail about a refused order', () => {
  it('is sent again instead of a receipt if a payment arrives after the refusal', async () => {
    const orderId = await shop.orderTwoPieces();
    expect(await advance(orderId, 'refused')).toBe(200);
    expect(await waitForSubjects(orderId)).toEqual([REFUSED]);
    await pay(orderId);
    await shop.waitForPaymentChecks();
    const paidAfterRefusal = { fulfilment: 'refused', status: 'settlement', refund_due: true };
    expect((await shop.readAsAdmin(orderId)).order).toMatchObject(paidAfterRefusal);
    expect(await waitForSubjects(orderId)).toEqual([REFUSED, REFUSED]);
    const last = smtp.mails.findLast(({ text }) => text.includes(numberOf(orderId)));
    expect(last?.text).toMatch(/will return Rp\s370\.000 to you/);
  });
});

it('the mails about an order that was paid twice promise both payments if the order is refused, and then say that the surplus was returned', async () => {
  const orderId = await shop.orderTwoPieces();
  await pay(orderId);
  const surplus = await shop.addAttempt(orderId);
  await shop.setStatusAndNotify(surplus, 'settlement', { paymentType: 'qris' });
  expect(await advance(orderId, 'refused')).toBe(200);
  const { text: ofRefusal } = await waitForMailAbout(orderId, REFUSED);
  expect(ofRefusal).toMatch(/will return Rp\s740\.000 to you/);
  const [transaction] = shop.gateway.order(surplus).transactions;
  const refund = await shop.requestRefund(orderId, { transaction_id: transaction?.transactionId });
  expect(refund.status).toBe(200);
  const { text: ofRefund } = await waitForMailAbout(orderId, REFUND);
  expect(ofRefund).toMatch(/we have returned Rp\s370\.000, which you had paid twice\./i);
});

it('a mail follows each refund that the gateway reports, also one that was made on its dashboard', async () => {
  const orderId = await shop.orderTwoPieces();
  await pay(orderId);
  await waitForMailAbout(orderId, RECEIPT);
  const notify = (status: string, refund_amount: string): Promise<void> =>
    shop.notify(orderId, { transaction_status: status, status_code: '200', refund_amount });
  await notify('partial_refund', '50000.00');
  await notify('partial_refund', '120000.00');
  await notify('partial_refund', '50000.00'); // late
  await notify('refund', '370000.00');
  await notify('refund', '370000.00'); // redelivery
  expect(await waitForSubjects(orderId)).toEqual([RECEIPT, REFUND, REFUND, REFUND]);
  const texts = smtp.mails.filter(
    ({ subject, text }) => subject === REFUND && text.includes(numberOf(orderId)),
  );
  const amounts = texts.map(({ text }) => /returned Rp\s([\d.]+)/i.exec(text)?.[1]);
  expect(amounts.sort()).toEqual(['250.000', '50.000', '70.000']);
});
