import { randomUUID } from 'node:crypto';
import type { Client } from './support/client.js';
import { jobRows, makeJobsDue } from './support/jobs.js';
import { placeOrder as place, readOrder } from './support/orders.js';
import { createProduct } from './support/products.js';
import {
  addAttempt,
  bulkOrders,
  notifyOf,
  openShop,
  placeOrder,
  reconcile,
  type Shop,
} from './support/shop.js';
import { type ReceivedMail, SmtpStandIn } from './support/smtp-stand-in.js';
import { until } from './support/wait.js';

const RECEIPT = 'Your receipt';
const READY = 'Your order is ready';

let smtp: SmtpStandIn;
let shop: Shop;
let admin: Client;

beforeAll(async () => {
  smtp = await SmtpStandIn.start();
  shop = await openShop({ settings: { SMTP_URL: smtp.url } });
  admin = await shop.service.admin();
});

afterAll(async () => {
  await shop.close();
  await smtp.close();
});

/** Subjects of the mails about an order, once every mail has left. */
async function mailsOf(orderId: string): Promise<string[]> {
  await until('every mail has left', async () => {
    await makeJobsDue(shop.service.database.pool);
    return (await jobRows(shop.service.database.pool, 'send-order-mail')).length === 0;
  });
  return smtp.mails.filter(({ text }) => text.includes(orderId)).map(({ subject }) => subject);
}

function mailOf(orderId: string, subject: string): Promise<ReceivedMail> {
  return smtp.waitForMail((mail) => mail.subject === subject && mail.text.includes(orderId));
}

async function pay(orderId: string): Promise<void> {
  shop.gateway.settle(orderId);
  expect(await notifyOf(shop, orderId)).toBe(200);
}

function advance(orderId: string, fulfilment: string): Promise<number> {
  return admin
    .put(`/api/admin/orders/${orderId}/fulfilment`)
    .send({ fulfilment })
    .then(({ status }) => status);
}

describe('the receipt', () => {
  it('goes to the customer of a paid order: items, total and id, as text and as HTML', async () => {
    const email = `${randomUUID()}@example.com`;
    const customer = shop.service.client();
    await customer.register({ email, fullname: 'Ayu <b>"Co"</b> & {{total}}' }).expect(201);
    const { id } = await createProduct(admin, [], {
      name: `Kue <img src=x> & 'lapis'`,
      description: 'Eighteen layers',
      price: '185000',
    });
    const { order_id } = await place(customer, [
      { product_id: id, quantity: 2 },
      { product_id: shop.productId, quantity: 1 },
    ]);
    await pay(order_id);

    const mail = await mailOf(order_id, RECEIPT);
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
        `Order: ${order_id}`,
        '',
        'We write to you again when it is ready.',
      ].join('\n'),
    );
    expect(mail.html).toContain('Hello Ayu &lt;b&gt;&quot;Co&quot;&lt;/b&gt; &amp; {{total}},');
    expect(mail.html).toContain('2 × Kue &lt;img src&#x3D;x&gt; &amp; &#x27;lapis&#x27;');
    expect(mail.html).not.toMatch(/<img|<b>/);
    for (const text of ['370.000', '185.000', '555.000', order_id]) expect(mail.html).toContain(text);
  });

  it('of an order that the bakery has refused promises nothing', async () => {
    const orderId = await placeOrder(shop);
    expect(await advance(orderId, 'refused')).toBe(200);
    await pay(orderId);
    const { text } = await mailOf(orderId, RECEIPT);
    expect(text).toContain('We cannot make this order.');
    expect(text).not.toContain('when it is ready');
    expect(await mailsOf(orderId)).toEqual([RECEIPT]);
  });

  it('goes once, also when the payment is notified many times at the same moment', async () => {
    const orderIds = await bulkOrders(shop, 5);
    await Promise.all(
      orderIds.flatMap((orderId) => {
        shop.gateway.settle(orderId);
        return Array.from({ length: 8 }, () => notifyOf(shop, orderId));
      }),
    );
    for (const orderId of orderIds) {
      expect(await notifyOf(shop, orderId)).toBe(200);
      expect(await mailsOf(orderId)).toEqual([RECEIPT]);
    }
  });

  it('goes once for a payment that is captured, settled, denied and settled again, and on a second page too', async () => {
    const orderId = await placeOrder(shop);
    for (const status of ['capture', 'settlement', 'deny', 'settlement'] as const) {
      shop.gateway.setStatus(orderId, status, { fraudStatus: status === 'deny' ? 'deny' : 'accept' });
      expect(await notifyOf(shop, orderId)).toBe(200);
    }
    const later = await addAttempt(shop, orderId);
    shop.gateway.settle(later);
    expect(await notifyOf(shop, later)).toBe(200);
    expect(await mailsOf(orderId)).toEqual([RECEIPT]);
  });

  it('goes once when the notification was lost, and comes after the order was asked for', async () => {
    const orderId = await placeOrder(shop);
    shop.gateway.settle(orderId);
    await reconcile(shop, [orderId]);
    expect(await mailsOf(orderId)).toEqual([RECEIPT]);
    expect(await notifyOf(shop, orderId)).toBe(200);
    expect(await mailsOf(orderId)).toEqual([RECEIPT]);
  });

  it.each(['pending', 'authorize', 'deny', 'expire', 'cancel'] as const)(
    'does not go for %s',
    async (status) => {
      const orderId = await placeOrder(shop);
      shop.gateway.setStatus(orderId, status);
      expect(await notifyOf(shop, orderId)).toBe(200);
      expect((await readOrder(shop.customer, orderId)).status).toBe(status);
      expect(await mailsOf(orderId)).toEqual([]);
    },
  );

  it('does not go for a payment that could not be recorded, and goes once when it is notified again', async () => {
    const { pool } = shop.service.database;
    const orderId = await placeOrder(shop);
    shop.gateway.settle(orderId);
    await pool.query('ALTER TABLE payment_notifications ADD CONSTRAINT broken CHECK (false) NOT VALID');
    try {
      expect(await notifyOf(shop, orderId)).toBe(500);
      expect(await mailsOf(orderId)).toEqual([]);
    } finally {
      await pool.query('ALTER TABLE payment_notifications DROP CONSTRAINT broken');
    }
    expect(await notifyOf(shop, orderId)).toBe(200);
    expect(await mailsOf(orderId)).toEqual([RECEIPT]);
  });

  it('waits for the mail server, which the payment does not, and goes to the address of that time', async () => {
    const customer = shop.service.client();
    const password = 'correct horse battery staple';
    await customer.register({ email: `${randomUUID()}@example.com`, password }).expect(201);
    const { order_id } = await place(customer, [{ product_id: shop.productId, quantity: 1 }]);
    await smtp.down();
    await pay(order_id);
    await until('a try has failed', async () =>
      (await jobRows(shop.service.database.pool, 'send-order-mail')).some((job) => job.last_error !== null),
    );
    const email = `${randomUUID()}@example.com`;
    await customer.patch('/api/users').send({ email, password }).expect(200);
    await smtp.up();
    expect(await mailsOf(order_id)).toEqual([RECEIPT]);
    expect((await mailOf(order_id, RECEIPT)).recipients).toEqual([email]);
  });
});

describe('the word that an order is ready', () => {
  it('goes once, when it becomes ready; no other step mails anything', async () => {
    const orderId = await placeOrder(shop);
    await pay(orderId);
    expect(await advance(orderId, 'preparing')).toBe(200);
    expect(await mailsOf(orderId)).toEqual([RECEIPT]);
    const statuses = await Promise.all(Array.from({ length: 6 }, () => advance(orderId, 'ready')));
    expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await advance(orderId, 'collected')).toBe(200);
    expect(await mailsOf(orderId)).toEqual([RECEIPT, READY]);

    const { text, html } = await mailOf(orderId, READY);
    expect(text.trimEnd()).toBe(
      'Hello Ayu Lestari,\n\nyour order is ready. You can collect it at the bakery.\n\n' +
        `2 × Kue lapis\n\nOrder: ${orderId}`,
    );
    expect(html).toContain('2 × Kue lapis');
    expect(html).toContain(orderId);
  });
});
