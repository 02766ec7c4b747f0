import { newAccount, newEmail, PASSWORD } from './support/accounts.js';
import type { Client } from './support/client.js';
import { makeJobsDue, readJobs } from './support/jobs.js';
import { setUpShop } from './support/shop-settings.js';
import { addProduct, orderOf, placeOrder, readOrder, requestOrder } from './support/orders.js';
import { useShop } from './support/shop.js';
import { type ReceivedMail, useSmtpStandIn } from './support/smtp-stand-in.js';
import { until } from './support/wait.js';

const RECEIPT = 'Your receipt';
const REFUSED = 'We cannot make your order';
const READY = 'Your order is ready';

const smtp = useSmtpStandIn();
const shop = useShop(() => ({ settings: { SMTP_URL: smtp.url } }));

/** Returns the order number that mails show. */
const numberOf = (orderId: string): string => orderId.slice(0, 8).toUpperCase();

/** Waits until all order mails are sent, without the delays of retries. @returns the subjects of this order's mails */
async function waitForSubjects(orderId: string): Promise<string[]> {
  await until('every mail is sent', async () => {
    await makeJobsDue(shop.service.database.pool);
    return (await readJobs(shop.service.database.pool, 'send-order-mail')).length === 0;
  });
  return smtp.mails.filter(({ text }) => text.includes(numberOf(orderId))).map(({ subject }) => subject);
}

function waitForMailAbout(orderId: string, subject: string): Promise<ReceivedMail> {
  return smtp.waitForMail((mail) => mail.subject === subject && mail.text.includes(numberOf(orderId)));
}

/** Orders one piece, with additional fields. @returns the order id */
async function orderOnePiece(customer: Client, fields: object = {}): Promise<string> {
  const items = [{ product_id: shop.productId, quantity: 1 }];
  return orderOf(await requestOrder(customer, items, undefined, fields).expect(201)).order_id;
}

/** Settles a payment attempt. The id of the first attempt is the id of the order. */
const pay = (attemptId: string): Promise<void> => shop.setStatusAndNotify(attemptId, 'settlement');

/** Moves an order to another step. @returns the status of the response */
async function advance(orderId: string, fulfilment: string): Promise<number> {
  return (await shop.setFulfilment(orderId, fulfilment)).status;
}

async function verifyAddress(email: string): Promise<void> {
  await shop.query('UPDATE users SET email_verified_at = now() WHERE email = $1', [email]);
}

describe('the receipt', () => {
  it('is sent to the customer of a paid order, and lists items, total and order number as text and as HTML with escaped names', async () => {
    const { client: customer, email } = await newAccount(shop.service, 'Ayu <b>"Co"</b> & {{total}}');
    await verifyAddress(email);
    const product_id = await addProduct(shop.service, 185_000, `Kue <img src=x> & 'lapis'`);
    const { order_id: orderId } = await placeOrder(customer, [
      { product_id, quantity: 2 },
      { product_id: shop.productId, quantity: 1 },
    ]);
    await pay(orderId);

    const mail = await waitForMailAbout(orderId, RECEIPT);
    expect(mail.recipients).toEqual([email]);
    expect(mail.text.replaceAll('\u00a0', ' ').trimEnd()).toBe(
      [
        'Hello Ayu <b>"Co"</b> & {{total}},',
        '',
        'thank you, your order is paid.',
        '',
        `2 × Kue <img src=x> & 'lapis': Rp 370.000`,
        '1 × Kue lapis: Rp 185.000',
        '',
        'Total: Rp 555.000',
        `Order: ${numberOf(orderId)}`,
        '',
        'We write to you again when it is ready.',
      ].join('\n'),
    );
    expect(mail.html).toContain('Hello Ayu &lt;b&gt;&quot;Co&quot;&lt;/b&gt; &amp; {{total}},');
    expect(mail.html).toContain('2 × Kue &lt;img src&#x3D;x&gt; &amp; &#x27;lapis&#x27;');
    expect(mail.html).not.toMatch(/<img|<b>/);
    for (const text of ['370.000', '185.000', '555.000', numberOf(orderId)])
      expect(mail.html).toContain(text);
  });

  it('shows the pickup time in the time zone of the shop, but shows name and note only to a verified address', async () => {
    await setUpShop(shop.admin, { time_zone: 'Asia/Makassar' });
    const tomorrow = new Date(Date.now() + 24 * 3_600_000);
    const time = tomorrow.toLocaleTimeString('en-GB', { timeZone: 'Asia/Makassar', timeStyle: 'short' });
    const { client: customer, email } = await newAccount(shop.service, 'You won, see evil.example');
    const wishes = { pickup_at: tomorrow.toISOString(), note: 'Tulis <b>"20"</b>' };
    const [first, second] = [await orderOnePiece(customer, wishes), await orderOnePiece(customer, wishes)];
    await pay(first);
    const unverified = await waitForMailAbout(first, RECEIPT);
    expect(unverified.text).toMatch(new RegExp(`^Pickup: \\w+, \\d+ \\w+ \\d{4}, ${time}\\r?$`, 'm'));
    expect(unverified.text).toMatch(/^Hello,\r?\n/);
    expect(unverified.html).toContain('<p>Hello,</p>');
    expect(`${unverified.text} ${unverified.html}`).not.toMatch(/You won|Tulis/);
    await verifyAddress(email);
    await pay(second);
    const { text, html } = await waitForMailAbout(second, RECEIPT);
    expect(text).toMatch(/^Hello You won, see evil\.example,/);
    expect(text).toContain('Your note: Tulis <b>"20"</b>');
    expect(html).toContain('Your note: Tulis &lt;b&gt;&quot;20&quot;&lt;/b&gt;');
    expect(html).toContain(time);
  });

  it('says that the money will be returned if the order was refused before the mail is sent', async () => {
    await smtp.down();
    const orderId = await shop.orderTwoPieces();
    await pay(orderId);
    expect(await advance(orderId, 'refused')).toBe(200);
    await smtp.up();
    const { text } = await waitForMailAbout(orderId, RECEIPT);
    expect(text).toContain('We cannot make this order and will return your payment.');
    expect(text).not.toContain('when it is ready');
    expect(await waitForSubjects(orderId)).toEqual(expect.arrayContaining([RECEIPT, REFUSED]));
  });

  it('is sent once if the same notification arrives many times in parallel', async () => {
    const orderIds = await shop.insertOrders(5);
    await Promise.all(
      orderIds.flatMap((orderId) => {
        shop.gateway.settle(orderId);
        return Array.from({ length: 8 }, () => shop.notify(orderId));
      }),
    );
    for (const orderId of orderIds) {
      await shop.notify(orderId);
      expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
    }
  });

  it('is sent once even if the payment is captured, settled, denied and settled again, and then another attempt is paid too', async () => {
    const orderId = await shop.orderTwoPieces();
    for (const status of ['capture', 'settlement', 'deny', 'settlement'] as const)
      await shop.setStatusAndNotify(orderId, status, { fraudStatus: status === 'deny' ? 'deny' : 'accept' });
    await pay(await shop.addAttempt(orderId));
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
  });

  it('is sent once if a reconciliation finds the payment before the notification arrives', async () => {
    const orderId = await shop.orderTwoPieces();
    shop.gateway.settle(orderId);
    await shop.reconcile([orderId]);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
    await shop.notify(orderId);
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
    await shop.query(
      `CREATE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'the commit fails'; END $$;
       CREATE CONSTRAINT TRIGGER fail_commit AFTER INSERT ON payment_notifications
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_commit();`,
    );
    expect((await shop.sendNotification(orderId)).status).toBe(500);
    expect(await waitForSubjects(orderId)).toEqual([]);
    expect((await readOrder(shop.customer, orderId)).status).toBe('pending');
    await shop.query('DROP FUNCTION fail_commit CASCADE');
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

  it('waits for the mail server without delaying the payment, and is sent to the current address if the customer changed it meanwhile', async () => {
    const { client: customer } = await newAccount(shop.service);
    const orderId = await orderOnePiece(customer);
    await smtp.down();
    await pay(orderId);
    await until('a delivery has failed', async () =>
      (await readJobs(shop.service.database.pool, 'send-order-mail')).some((job) => job.last_error !== null),
    );
    const email = newEmail();
    await customer.patch('/api/users').send({ email, password: PASSWORD }).expect(200);
    await smtp.up();
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
    expect((await waitForMailAbout(orderId, RECEIPT)).recipients).toEqual([email]);
  });
});

it('the mail about a ready order is sent once even if parallel requests advance the order, and the steps preparing and collected send no mail', async () => {
  const orderId = await shop.orderTwoPieces();
  await pay(orderId);
  expect(await advance(orderId, 'preparing')).toBe(200);
  expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
  const statuses = await Promise.all(Array.from({ length: 6 }, () => advance(orderId, 'ready')));
  expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
  expect(await advance(orderId, 'collected')).toBe(200);
  expect(await waitForSubjects(orderId)).toEqual([RECEIPT, READY]);

  const { text, html } = await waitForMailAbout(orderId, READY);
  expect(text.trimEnd()).toBe(
    'Hello,\n\nyour order is ready. You can collect it at the bakery.\n\n' +
      `2 × Kue lapis\n\nOrder: ${numberOf(orderId)}`,
  );
  expect(html).toContain('2 × Kue lapis');
  expect(html).toContain(numberOf(orderId));
});

describe('the mail about a refused order', () => {
  it('is sent once even if parallel requests refuse the order, and tells a customer who has not paid that no payment was received', async () => {
    const orderId = await shop.orderTwoPieces();
    const statuses = await Promise.all(Array.from({ length: 6 }, () => advance(orderId, 'refused')));
    expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await waitForSubjects(orderId)).toEqual([REFUSED]);
    const { text } = await waitForMailAbout(orderId, REFUSED);
    expect(text).toContain(
      'We have received no payment for it. If a payment still arrives, we will return it',
    );
  });

  it('tells a customer who has paid that the money will be returned', async () => {
    const orderId = await shop.orderTwoPieces();
    await pay(orderId);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
    expect(await advance(orderId, 'refused')).toBe(200);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT, REFUSED]);
    const { text } = await waitForMailAbout(orderId, REFUSED);
    expect(text).toMatch(/We received your payment and will return Rp\s370\.000 to you\./);
  });

  it('is sent again instead of a receipt if a payment arrives after the refusal', async () => {
    const orderId = await shop.orderTwoPieces();
    expect(await advance(orderId, 'refused')).toBe(200);
    expect(await waitForSubjects(orderId)).toEqual([REFUSED]);
    await pay(orderId);
    expect(await waitForSubjects(orderId)).toEqual([REFUSED, REFUSED]);
    const last = smtp.mails.findLast(({ text }) => text.includes(numberOf(orderId)));
    expect(last?.text).toMatch(/will return Rp\s370\.000 to you/);
  });
});
